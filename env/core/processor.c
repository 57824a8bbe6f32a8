/* Asks the processor, and whether the system keeps its wide registers. */
#include "core/processor.h"

bool processor_avx2;
bool processor_pdep;
bool processor_avx512;

#if defined(__x86_64__)

#include <cpuid.h>
#include <stdint.h>

/* Registers that the system saves when it changes threads: bits of XCR0. */
enum { SAVES_AVX = 0x6, SAVES_AVX512 = 0xe6 };

static uint32_t saved_registers(void)
{
    uint32_t low;
    uint32_t high;
    __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return low;
}

/* AMD's and Hygon's families before 19h (Zen 3). */
static bool pdep_is_slow(void)
{
    enum { AMD = 0x68747541, HYGON = 0x6f677948, QUICK = 0x19 }; /* the names' first letters */
    uint32_t a;
    uint32_t b;
    uint32_t c;
    uint32_t d;
    if (!__get_cpuid(0, &a, &b, &c, &d) || (b != AMD && b != HYGON)) {
        return false;
    }
    __get_cpuid(1, &a, &b, &c, &d);
    return (a >> 8 & 0xf) + (a >> 20 & 0xff) < QUICK;
}

static inline bool all_of(uint32_t bits, uint32_t wanted)
{
    return (bits & wanted) == wanted;
}

__attribute__((constructor)) static void processor_ask(void)
{
    const uint32_t vectors = bit_AVX512F | bit_AVX512BW | bit_AVX512VL | bit_BMI | bit_BMI2;
    uint32_t a;
    uint32_t b;
    uint32_t c;
    uint32_t d;
    if (!__get_cpuid(1, &a, &b, &c, &d) || !all_of(c, bit_OSXSAVE | bit_AVX | bit_POPCNT)) {
        return;
    }
    uint32_t saved = saved_registers();
    if (!__get_cpuid_count(7, 0, &a, &b, &c, &d)) {
        return;
    }
    processor_avx2 = all_of(saved, SAVES_AVX) && all_of(b, bit_AVX2);
    processor_pdep = all_of(b, bit_BMI | bit_BMI2) && !pdep_is_slow();
    processor_avx512 =
        all_of(saved, SAVES_AVX512) && all_of(b, vectors) && all_of(c, bit_AVX512VBMI);
}

#endif
