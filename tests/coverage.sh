#!/usr/bin/env bash
# How much of env/ and proto/ the tests run, by lines and branches: tests/coverage.sh BUILD_DIRECTORY PYTHON
# Fails below 95 % of lines and 90 % of branches, and if the checker, the ring or the log has a branch that no test
# takes. Needs clang and LLVM's tools, and for the pages Playwright and Chromium: without them env/serve counts as missed.
#
# The build defines NDEBUG: what an assertion does when it fails is no branch that a test could take. The counters live
# in a file that the processes share (%c, counter relocation), so that those count too which are killed or end by _exit.
set -eu
build=$1
python=$2
cd "$(dirname "$0")/.."
flags="-DNDEBUG -fprofile-instr-generate -fcoverage-mapping -mllvm -runtime-counter-relocation"
cmake -S . -B "$build" -DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_COMPILER=clang \
    -DCMAKE_C_FLAGS="$flags -Wno-unused-command-line-argument" >/dev/null
cmake --build "$build" -j"$(nproc)" >"$build/build.log" 2>&1 || {
    tail -n 40 "$build/build.log"
    exit 1
}
rm -rf "$build/profiles"
export LLVM_PROFILE_FILE=$PWD/$build/profiles/%c%m.profraw
failed=0
try() {
    "$@" >"$build/try.log" 2>&1 || {
        echo "failed: $*"
        tail -n 20 "$build/try.log"
        failed=1
    }
}
objects=()
for program in "$build"/tests/test_*; do
    if [ -f "$program" ] && [ -x "$program" ]; then
        try "$program"
        objects+=(-object "$program")
    fi
done
for script in tests/daemon/test_*.py; do
    try "$python" "$script" "$build"
done
for script in tests/cli/test_cli*.sh; do
    try bash "$script" "$build"
done
try bash tests/cli/test_examples.sh "$build" "$python"
if "$python" -c 'import playwright' 2>/dev/null; then
    for script in tests/window/test_*.py; do
        try "$python" "$script" "$build"
    done
else
    echo "NOT RUN: tests/window, which needs Playwright"
fi
llvm-profdata merge -sparse -o "$build/merged.profdata" "$build"/profiles/*.profraw
llvm-cov report "$build/trainyardd" -object "$build/trainyard" "${objects[@]}" -instr-profile="$build/merged.profdata" \
    -show-branch-summary -show-region-summary=0 -ignore-filename-regex='(^|/)(tests|agents|bench)/' \
    2>/dev/null | sed 's/  */ /g' >"$build/report.txt"
cat "$build/report.txt"
echo

# below NAME FILES LINES BRANCHES: prints the figures of the files whose name fits the expression; true if they are
# below these per cent. The last six columns of the report are lines, missed, %, branches, missed, %.
below() {
    awk -v name="$1" -v files="$2" -v lines_floor="$3" -v branches_floor="$4" '
        $1 ~ files && $1 !~ /^TOTAL/ && NF > 6 {
            lines += $(NF - 5); lines_missed += $(NF - 4)
            branches += $(NF - 2); branches_missed += $(NF - 1)
        }
        END {
            of_lines = lines ? 100 * (lines - lines_missed) / lines : 0
            of_branches = branches ? 100 * (branches - branches_missed) / branches : 0
            short = of_lines < lines_floor || of_branches < branches_floor
            printf "%s: lines %.1f %%, branches %.1f %% (%d of %d missed)", name, of_lines, of_branches, branches_missed, branches
            print short ? sprintf("; short of %d / %d %%", lines_floor, branches_floor) : ""
            exit !short
        }' "$build/report.txt"
}
below "env and proto" '(^|/)(env|proto)/' 95 90 && failed=1
below "checker" 'proto/wire_check\.c$' 0 100 && failed=1
below "ring" '(proto/client_shm|env/daemon/shm_[a-z]*)\.c$' 0 100 && failed=1
below "log" 'env/replay/[a-z]*\.c$' 0 100 && failed=1
echo "$((1 - failed)) passed, $failed failed"
exit $failed
