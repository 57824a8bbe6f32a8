#!/usr/bin/env bash
# The layers of the source tree: includes point one way only.
set -u
cd "$(dirname "$0")/.."
passed=0
failed=0

# allow NAME FILES-REGEX ALLOWED-REGEX: quoted includes of the files must match.
allow() {
    local name=$1 files=$2 allowed=$3 bad
    bad=$(git ls-files -co --exclude-standard | grep -E "$files" |
        xargs -r grep -HnE '^#include "' | grep -vE "#include \"($allowed)\"")
    verdict "$name" "$bad"
}

# forbid NAME FILES-REGEX PATTERN [FILES]: no line of the files, but for those listed, may match.
forbid() {
    local name=$1 files=$2 pattern=$3 but=${4:-none} bad
    bad=$(git ls-files -co --exclude-standard | grep -E "$files" | grep -vxF "$but" | xargs -r grep -HnE "$pattern")
    verdict "$name" "$bad"
}

verdict() {
    if [ -n "$2" ]; then
        echo "broken: $1"
        echo "$2"
        failed=$((failed + 1))
    else
        passed=$((passed + 1))
    fi
}

allow "core includes core and the leaf of the public headers" '^env/core/.*\.[ch]$' 'core/[a-z_]+\.h|base\.h'
allow "games include core, game.h and games" '^env/games/.*\.[ch]$' 'core/[a-z_]+\.h|kit/(reader|draw|svg|layout|invent)\.h|base\.h|game\.h|games/[a-z0-9_/]+\.h'
allow "agents include the interface and the tables of their game" '^agents/.*\.[ch]$' 'core/[a-z_]+\.h|(trainyard|base)\.h|agent\.h|net\.h|collect\.h|game\.h|games/[a-z0-9_/]+\.h|agents/[a-z_]+\.h|[a-z_]+expert[a-z_]*\.h'
allow "pools include core, the registry and pools" '^env/pool/.*\.[ch]$' 'core/[a-z_]+\.h|(trainyard|base)\.h|agent\.h|registry\.h|pool/[a-z_]+\.h'
allow "logs include core, the configuration and logs" '^env/replay/.*\.[ch]$' 'core/[a-z_]+\.h|(trainyard|base)\.h|config\.h|replay/[a-z_]+\.h'
allow "the loader includes core and, to add games, game.h" '^env/load/.*\.[ch]$' 'core/[a-z_]+\.h|base\.h|game\.h|load/[a-z_]+\.h'
allow "the shared-memory client includes core and the public headers" '^proto/(client_)?shm[a-z_]*\.[ch]$' 'core/[a-z_]+\.h|(trainyard|base)\.h|pool/pool\.h|proto/(client_)?shm(_internal)?\.h'
allow "the shared-memory server knows of the daemon only where it listens" '^env/daemon/shm_.*\.[ch]$' 'core/[a-z_]+\.h|(trainyard|base)\.h|proto/shm\.h|daemon/(shm_[a-z_]+|endpoint)\.h'
for game in env/games/*/; do
    name=$(basename "$game")
    others=$(ls env/games | grep -vxE "$name|tickets" | paste -sd '|')
    if [ -n "$others" ]; then
        forbid "$name knows no other game" "^env/games/$name/.*\.[ch]$" "#include \"games/($others)/"
    fi
done
forbid "games do not allocate, do input or output, or know a clock" '^env/(games|core)/.*\.[ch]$' \
    '#include <(stdlib|time|unistd|pthread|fcntl|errno|jansson|zmq|msgpack)|\b(malloc|calloc|free|fopen|printf|puts)\('
forbid "no floating point in rules" '^env/(games|core)/.*\.[ch]$' '^[^*/]*\b(float|double)\b [a-z_]+'
forbid "jansson is the loader's and the tool's" '^(env/core|env/games|agents|bench|proto)/.*\.[ch]$|^env/[a-z_]+\.[ch]$' '#include <jansson'
forbid "only the router, the client and the bench's yardstick speak ZeroMQ" '^(env|agents|bench)/.*\.[ch]$|^proto/.*\.h$|^proto/(wire|protocol|shm).*\.c$' '#include <zmq' $'env/daemon/router_internal.h\nbench/bench_bare.c\nproto/client_internal.h'
forbid "what the router keeps to itself is included by the router" '^env/daemon/.*\.[ch]$' '#include "daemon/router_internal' \
    $'env/daemon/router.c\nenv/daemon/router_listen.c\nenv/daemon/router_messages.c\nenv/daemon/router_survey.c\nenv/daemon/router_zap.c'
forbid "only the encoder includes msgpack" '^(env|agents|bench|proto)/.*\.[ch]$' '#include <msgpack' 'proto/wire_encode.c'
forbid "only the page of metrics and the window speak HTTP" '\.[ch]$' '#include <microhttpd' $'env/daemon/http.c\nenv/serve/web.c'
allow "the protocol includes core and itself" '^proto/.*\.[ch]$' 'core/[a-z_]+\.h|(trainyard|base)\.h|pool/pool\.h|proto/[a-z_]+\.(h|def)'
allow "the daemon includes core, the protocol and itself" '^env/daemon/.*\.[ch]$' 'core/[a-z_]+\.h|(trainyard|base)\.h|proto/[a-z_]+\.h|daemon/[a-z_]+\.h|replay/[a-z_]+\.h|pool/work\.h|describe\.h'
forbid "dispatch knows no socket and no clock" '^env/daemon/(dispatch[a-z_]*|requests|metrics|session|room[a-z_]*|hello|stats|reply|members?|snapshots|job[a-z_]*)\.[ch]$' '#include <(zmq|time|sys/socket|poll)|clock_gettime'

echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
