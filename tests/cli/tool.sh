# Sourced by the tests of the command-line tool, in a directory of their own: the tool, the first game, a board of the
# user's own, and how to check what the tool says. Each is run as tests/cli/test_NAME.sh BUILD_DIRECTORY.
set -u

tool="$(cd "${1:?usage: $0 BUILD_DIRECTORY}" && pwd)/trainyard"
source="$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
passed=0
failed=0

# check NAME COMMAND...: the command succeeds.
check() {
    local name="$1"
    shift
    if "$@"; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAILED: $name"
    fi
}

# run ARGUMENTS...: runs the tool; the answers are in the files out and err and in $status.
run() {
    "$tool" "$@" >out 2>err </dev/null
    status=$?
}

# refuses STATUS WORD ARGUMENTS...: exit status, and WORD in the message on stderr.
refuses() {
    local wanted="$1" word="$2"
    shift 2
    run "$@"
    [ "$status" -eq "$wanted" ] && grep -qF -- "$word" err
}

# accepts ARGUMENTS...: exit status 0 and nothing on stderr.
accepts() {
    run "$@"
    [ "$status" -eq 0 ] && [ ! -s err ]
}

is_json() {
    python3 -c 'import json, sys; json.load(open(sys.argv[1]))' "$1"
}

is_json_lines() {
    python3 -c 'import json, sys; [json.loads(line) for line in open(sys.argv[1])]' "$1"
}

# same_results FILE FILE: equal but for what depends on the clock and the threads.
same_results() {
    python3 - "$@" <<'PYTHON'
import json, sys
def load(path):
    result = json.load(open(path))
    for key in ("threads", "seconds", "decisions_per_s"):
        result.pop(key)
    return result
sys.exit(load(sys.argv[1]) != load(sys.argv[2]))
PYTHON
}

# The game that is tested, its key for boards, and the built-in board as a file of the user's own.
game="$("$tool" describe --json | python3 -c \
    'import json, sys; print(json.load(sys.stdin)["games"][0]["game"])')"
read -r key standard <<<"$("$tool" describe "$game" --json | python3 -c 'import json, sys
fields = json.load(sys.stdin)["fields"]
print(*next((f["key"], f["default"]) for f in fields if f["kind"] == "file"))')"
cp "$source/env/games/$game/data/$standard.json" "My Box.json"
