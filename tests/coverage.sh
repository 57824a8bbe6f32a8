#!/usr/bin/env bash
# How much of env/ and proto/ the tests run, by lines and branches: tests/coverage.sh BUILD_DIRECTORY PYTHON
# Prints the figures; they decide nothing. Needs clang and LLVM's tools.
set -eu
build=$1
python=$2
cd "$(dirname "$0")/.."
flags="-fprofile-instr-generate -fcoverage-mapping"
cmake -S . -B "$build" -DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_COMPILER=clang -DCMAKE_C_FLAGS="$flags" >/dev/null
cmake --build "$build" -j"$(nproc)" >"$build/build.log" 2>&1 || {
    tail -n 40 "$build/build.log"
    exit 1
}
rm -rf "$build/profiles"
export LLVM_PROFILE_FILE=$PWD/$build/profiles/%m.profraw
objects=()
for program in "$build"/tests/test_*; do
    if [ -f "$program" ] && [ -x "$program" ]; then
        "$program" >/dev/null 2>&1 || echo "$program failed"
        objects+=(-object "$program")
    fi
done
for script in tests/test_daemon.py tests/test_daemon_harm.py; do
    "$python" "$script" "$build" >/dev/null 2>&1 || echo "$script failed"
done
bash tests/test_cli.sh "$build" >/dev/null 2>&1 || echo "tests/test_cli.sh failed"
llvm-profdata merge -sparse -o "$build/merged.profdata" "$build"/profiles/*.profraw
llvm-cov report "$build/trainyardd" -object "$build/trainyard" "${objects[@]}" -instr-profile="$build/merged.profdata" \
    -show-branch-summary -show-region-summary=0 -ignore-filename-regex='(^|/)(tests|agents|bench)/' | sed 's/  */ /g' >"$build/report.txt"
cat "$build/report.txt"
grep -q '^TOTAL' "$build/report.txt"
echo "1 passed, 0 failed"
