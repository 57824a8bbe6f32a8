/* What the processor has beyond what every processor of its kind has. It is asked once, before
 * `main` or when the library is loaded, by instructions of its own: compilers' runtimes that could
 * tell do not come with every compiler. */
#pragma once

#include <stdbool.h>

extern bool processor_avx2;
/* PDEP as an instruction; on AMD's first ones that have it, it is a long program. */
extern bool processor_pdep;
/* AVX-512 with VBMI: such processors have F, BW, VL, BMI and BMI2 as well, and do not slow down
 * when it is used, as earlier ones did. */
extern bool processor_avx512;
