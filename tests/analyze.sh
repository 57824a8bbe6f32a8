#!/usr/bin/env bash
# Static analysis without findings: gcc -fanalyzer, clang-tidy and cppcheck over everything that ships.
#   tests/analyze.sh BUILD_DIRECTORY [FILE]...
# The build directory has compile_commands.json; generated files must be there.
set -u
build=$(cd "$1" && pwd)
shift
cd "$(dirname "$0")/.."
passed=0
failed=0
out=$build/analysis
mkdir -p "$out"
files=${*:-$(git ls-files -- 'env/*.c' 'proto/*.c' 'agents/*.c' 'bench/*.c')}

for tool in gcc clang-tidy cppcheck; do
    command -v $tool >/dev/null || {
        echo "$tool is not installed"
        exit 1
    }
done

# verdict NAME: what the tool said must be nothing.
verdict() {
    if [ -s "$out/$1" ]; then
        echo "findings of $1:"
        cat "$out/$1"
        failed=$((failed + 1))
    else
        passed=$((passed + 1))
    fi
}

# One file each, as many at once as there are processors.
each() {
    printf '%s\n' $files | xargs -P "$(nproc)" -I{} sh -c "$1"
}

# gcc 12 loses track of memory that is kept in structures and then calls it leaked; LeakSanitizer and
# tests/daemon/test_memory.c look for leaks instead. It also takes a vector's lanes for the bits that a shift may have;
# UBSan knows better.
flags="-std=c17 -O1 -Ienv -I. $(pkg-config --cflags jansson libzmq) -Wall -Wextra"
each "gcc $flags -fanalyzer -Wno-analyzer-malloc-leak -Wno-analyzer-shift-count-overflow -c -o /dev/null {} || true" >"$out/gcc" 2>&1
verdict gcc
each "clang-tidy -p $build --quiet {} 2>/dev/null || true" >"$out/clang-tidy"
verdict clang-tidy
cppcheck -q -j "$(nproc)" --std=c11 --enable=warning,performance,portability --inline-suppr \
    --suppress=missingIncludeSystem -Ienv -I. $files >"$out/cppcheck" 2>&1
verdict cppcheck
echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
