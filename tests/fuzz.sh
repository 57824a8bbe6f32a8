#!/usr/bin/env bash
# Fuzzes what reads bytes from outside, as many targets at once as there are processors:
#   tests/fuzz.sh BUILD_DIRECTORY SECONDS RUNS SECONDS_MAX [TARGET]...
# Each target runs for SECONDS, and longer until it has made RUNS, but not longer than SECONDS_MAX.
# The build directory was configured with clang and -DTRAINYARD_FUZZ=ON.
set -u
build=$(cd "$1" && pwd)
seconds=$2
runs=$3
seconds_max=$4
shift 4
targets=${*:-wire dispatch board replay}
top=$(cd "$(dirname "$0")/.." && pwd)
passed=0
failed=0

# The first inputs: every vector and small board of the repository, and logs of every game's small board.
work=$(mktemp -d)
mkdir "$work/log"
trap 'rm -rf "$work"' EXIT
seeds=$work/seeds
for game in $("$top/tests/support/small_rulesets.sh" "$build"); do
    "$build/trainyard" sim "$game" --agent random --episodes 2 --log "$work/log/${game%%:*}" >/dev/null || exit 1
done
"$build/trainyard" sim "convoi:board=$top/tests/data/convoi_yard.json" --agent random --episodes 1 \
    --log "$work/log/yard" >/dev/null || exit 1
python3 "$top/tests/fuzz/fuzz_seeds.py" "$seeds" "$work"/log/*/*.tylog || exit 1

# fuzz_for TARGET SECONDS RUNS: ends when either is reached; 0 runs are any number.
fuzz_for() {
    local target=$1 corpus=$build/fuzz-corpus-$1 options=(-max_len=1024)
    case $target in
    board) options=(-max_len=8192) ;;
    # What is replayed has far more code than what reads it: weighing each input by its rare places costs a third.
    replay) options=(-max_len=8192 -entropic=0) ;;
    esac
    mkdir -p "$corpus" "$build/fuzz-findings"
    "$build/tests/fuzz_$target" -max_total_time="$2" -runs="$([ "$3" -gt 0 ] && echo "$3" || echo -1)" "${options[@]}" \
        -timeout=10 -rss_limit_mb=2048 -reload=0 -dict="$seeds/$target.dict" \
        -artifact_prefix="$build/fuzz-findings/$target-" -print_final_stats=1 -verbosity=0 \
        "$corpus" "$seeds/$target" >>"$build/fuzz-$target.log" 2>&1
}

fuzz() {
    local target=$1 from=$SECONDS status=0
    : >"$build/fuzz-$target.log"
    fuzz_for "$target" "$seconds_max" "$runs" || status=$?
    if [ $status -eq 0 ] && [ $((SECONDS - from)) -lt "$seconds" ]; then
        fuzz_for "$target" $((seconds - SECONDS + from)) 0 || status=$?
    fi
    echo "seconds: $((SECONDS - from))" >>"$build/fuzz-$target.log"
    return $status
}

begin=$SECONDS
running=()
# Waits for the first of the running targets and says what it did.
reap() {
    local target=${running[0]%%=*} status=0
    wait "${running[0]##*=}" || status=$?
    running=("${running[@]:1}")
    awk -v target="$target" -v wanted="$runs" '/number_of_executed_units/ {made += $2}
        /^seconds:/ {seconds = $2}
        END {print target ": " made + 0 " runs in " seconds " s" (made < wanted ? ", fewer than " wanted : "")}' \
        "$build/fuzz-$target.log"
    if [ $status -eq 0 ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        tail -n 60 "$build/fuzz-$target.log"
    fi
}
for target in $targets; do
    [ "${#running[@]}" -lt "$(nproc)" ] || reap
    fuzz "$target" &
    running+=("$target=$!")
done
while [ "${#running[@]}" -gt 0 ]; do
    reap
done
echo "$((SECONDS - begin)) s"
echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
