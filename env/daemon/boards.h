/* Boards and decks that are not built in: sent with a request, or from the daemon's own folder. */
#pragma once

#include "proto/wire_decode.h"
#include "trainyard.h"

/* Where a request's files come from, while its ruleset is being opened. */
typedef struct BoardSource {
    const Request *request;
    const char *directory; /* NULL: there is none */
    uint64_t bytes_max;
    uint32_t read_count;
    char *read[TY_FILES_MAX]; /* files of the directory; freed by board_source_fini */
} BoardSource;

TyFiles board_source_files(BoardSource *source);
void board_source_fini(BoardSource *source);
