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

allow "core includes core and the public header" '^env/core/.*\.[ch]$' 'core/[a-z_]+\.h|trainyard\.h'
allow "games include core, game.h and games" '^env/games/.*\.[ch]$' 'core/[a-z_]+\.h|trainyard\.h|game\.h|games/[a-z_/]+\.h'
allow "agents include the interface and the tables of their game" '^agents/.*\.[ch]$' 'core/[a-z_]+\.h|trainyard\.h|agent\.h|game\.h|games/[a-z_/]+\.h|agents/[a-z_]+\.h|[a-z_]+expert[a-z_]*\.h'
allow "pools include core, the registry and pools" '^env/pool/.*\.[ch]$' 'core/[a-z_]+\.h|trainyard\.h|registry\.h|pool/[a-z_]+\.h'
allow "logs include core, the configuration and logs" '^env/replay/.*\.[ch]$' 'core/[a-z_]+\.h|trainyard\.h|config\.h|replay/[a-z_]+\.h'
allow "the loader includes core" '^env/load/.*\.[ch]$' 'core/[a-z_]+\.h|trainyard\.h|load/[a-z_]+\.h'
allow "the shared-memory client includes core and the public headers" '^proto/(client_)?shm[a-z_]*\.[ch]$' 'core/[a-z_]+\.h|trainyard\.h|pool/pool\.h|proto/(client_)?shm\.h'
allow "the shared-memory server knows of the daemon only where it listens" '^env/daemon/shm_.*\.[ch]$' 'core/[a-z_]+\.h|trainyard\.h|proto/shm\.h|daemon/(shm_[a-z_]+|endpoint)\.h'
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
forbid "only the router, the client and the bench's yardstick speak ZeroMQ" '^(env|agents|bench)/.*\.[ch]$|^proto/.*\.h$|^proto/(wire|protocol|shm).*\.c$' '#include <zmq' $'env/daemon/router.c\nbench/bench_bare.c'
forbid "only the encoder includes msgpack" '^(env|agents|bench|proto)/.*\.[ch]$' '#include <msgpack' 'proto/wire_encode.c'
allow "the protocol includes core and itself" '^proto/.*\.[ch]$' 'core/[a-z_]+\.h|trainyard\.h|pool/pool\.h|proto/[a-z_]+\.(h|def)'
allow "the daemon includes core, the protocol and itself" '^env/daemon/.*\.[ch]$' 'core/[a-z_]+\.h|trainyard\.h|proto/[a-z_]+\.h|daemon/[a-z_]+\.h|replay/[a-z_]+\.h'
forbid "dispatch knows no socket and no clock" '^env/daemon/(dispatch|session|pools|hello|host_[a-z]+)\.[ch]$' '#include <(zmq|time|sys/socket|poll)|clock_gettime'

echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
