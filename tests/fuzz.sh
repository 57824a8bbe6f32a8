#!/usr/bin/env bash
# Fuzzes what reads bytes from outside, as many targets at once as there are processors:
#   tests/fuzz.sh BUILD_DIRECTORY SECONDS_EACH [TARGET]...
# The build directory was configured with clang and -DTRAINYARD_FUZZ=ON.
set -u
build=$(cd "$1" && pwd)
seconds=$2
shift 2
targets=${*:-wire dispatch board replay}
top=$(cd "$(dirname "$0")/.." && pwd)
passed=0
failed=0

# The first inputs: every vector and board of the repository, and logs of every game's small board.
rm -rf "$build/fuzz-seeds" "$build/fuzz-log"
mkdir -p "$build/fuzz-log"
for game in convoi:board=tiny nordic:map=tiny express:map=tiny chicago; do
    "$build/trainyard" sim "$game" --agent random --episodes 2 --log "$build/fuzz-log/${game%%:*}" >/dev/null || exit 1
done
"$build/trainyard" sim "convoi:board=$top/tests/data/convoi_yard.json" --agent random --episodes 1 \
    --log "$build/fuzz-log/yard" >/dev/null || exit 1
python3 "$top/tests/fuzz_seeds.py" "$build/fuzz-seeds" "$build"/fuzz-log/*/*.tylog || exit 1

fuzz() {
    local target=$1 corpus=$build/fuzz-corpus-$1 size=16384
    case $target in wire | dispatch) size=1024 ;; esac
    mkdir -p "$corpus" "$build/fuzz-findings"
    "$build/tests/fuzz_$target" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -max_len=$size \
        -dict="$build/fuzz-seeds/$target.dict" -artifact_prefix="$build/fuzz-findings/$target-" \
        -print_final_stats=1 -verbosity=0 "$corpus" "$build/fuzz-seeds/$target" >"$build/fuzz-$target.log" 2>&1
}

begin=$SECONDS
running=()
# Waits for the first of the running targets and says what it did.
reap() {
    local target=${running[0]%%=*} status=0
    wait "${running[0]##*=}" || status=$?
    running=("${running[@]:1}")
    echo "$target: $(awk '/number_of_executed_units/ {print $2}' "$build/fuzz-$target.log") runs"
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
