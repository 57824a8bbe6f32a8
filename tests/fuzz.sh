#!/usr/bin/env bash
# Fuzzes what reads bytes from outside: tests/fuzz.sh BUILD_DIRECTORY SECONDS_EACH
# The build directory was configured with clang and -DTRAINYARD_FUZZ=ON.
set -u
build=$(cd "$1" && pwd)
seconds=$2
top=$(cd "$(dirname "$0")/.." && pwd)
passed=0
failed=0
python3 "$top/tests/fuzz_seeds.py" "$build/fuzz-seeds"
for target in wire dispatch; do
    corpus=$build/fuzz-corpus-$target
    mkdir -p "$corpus" "$build/fuzz-findings"
    if "$build/tests/fuzz_$target" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 \
        -dict="$top/tests/fuzz.dict" -artifact_prefix="$build/fuzz-findings/$target-" -print_final_stats=1 \
        -verbosity=0 "$corpus" "$build/fuzz-seeds/$target"; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
    fi
done
echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
