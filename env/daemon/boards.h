/* Boards and decks that are not built in: sent with a request, or from the daemon's own folder.
 * Agents have files from that folder only. */
#pragma once

#include "daemon/worker.h"

/* Where files come from, while a ruleset or an agent is being opened. */
typedef struct BoardSource {
    const Request *request; /* NULL: it brings none */
    bool whole_names;       /* of files in the directory; otherwise .json is added */
    const char *directory;  /* NULL: there is none */
    uint64_t bytes_max;
    uint32_t read_count;
    char *read[TY_FILES_MAX]; /* files of the directory; freed by board_source_fini */
} BoardSource;

TyFiles board_source_files(BoardSource *source);
void board_source_fini(BoardSource *source);

/* Opens the ruleset of a request: boards from its own files, then from the daemon's directory. */
TyStatus boards_ruleset_open(const WorkerShared *shared, const Request *request,
                             TyRuleset **ruleset);
/* Opens an agent for the ruleset. A file that it needs is one of the daemon's directory. */
TyStatus boards_agent_open(const WorkerShared *shared, const TyRuleset *ruleset, const char *spec,
                           const TyAgent **agent);
