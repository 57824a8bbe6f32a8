/* TRAINYARD_TEST='*illegal*' makes a test program run only the tests whose names fit. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

__attribute__((constructor)) static void filter_set(void)
{
    cmocka_set_test_filter(getenv("TRAINYARD_TEST"));
}
