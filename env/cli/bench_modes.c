/* What the kinds of measurements of trainyard bench share. */
#include "cli/bench_modes.h"
#include "bench/bench.h"

#include <stdio.h>
#include <stdlib.h>

void bench_machine_print(void)
{
    char processor[128];
    bench_processor(processor, sizeof processor);
    printf("processor: %s\ncompiler:  %s (%s)\nversion:   %s\n", processor, bench_compiler(),
           bench_build(), TY_VERSION);
}

void bench_machine_json(TyJson *json)
{
    char processor[128];
    bench_processor(processor, sizeof processor);
    ty_json_put_string(json, "cpu", processor);
    ty_json_put_string(json, "compiler", bench_compiler());
    ty_json_put_string(json, "build_type", bench_build());
    ty_json_put_string(json, "version", TY_VERSION);
}

int bench_each(const Settings *settings, const BenchList *list, const char *intro, BenchOne *one)
{
    TyJson json = output_open();
    int status = CLI_OK;
    ty_json_open(&json, NULL, '[');
    if (!settings->json) {
        printf("%s", intro);
    }
    for (uint32_t i = 0; i < list->count && status == CLI_OK; i++) {
        status = one(settings, list->specs[i], &json);
        fflush(stdout);
    }
    ty_json_close(&json, ']');
    if (status == CLI_OK && settings->json) {
        return output_print(settings, &json);
    }
    if (status == CLI_OK) {
        printf("\n");
        bench_machine_print();
    }
    free(json.text.data);
    return status;
}
