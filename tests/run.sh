#!/usr/bin/env bash
# Installs what is missing, builds with gcc and clang, and runs every test. From a fresh clone on a
# fresh Debian machine as root nothing else is needed.
#
#   tests/run.sh             the default budgets, some minutes
#   tests/run.sh --long      larger budgets
#   tests/run.sh --c-only    without the tests of the Python package, which need PyPI
set -euo pipefail
top=$(cd "$(dirname "$0")/.." && pwd)
cd "$top"
. tests/setup.sh
. env/packaging/libraries.sh

long=no
python=yes
for argument in "$@"; do
    case $argument in
    --long) long=yes ;;
    --c-only) python=no ;;
    -h | --help)
        sed -n '2,7s/^# \{0,1\}//p' "$0"
        exit 0
        ;;
    *)
        echo "tests/run.sh: unknown argument '$argument'; allowed are --long, --c-only" >&2
        exit 2
        ;;
    esac
done

out=$top/build/test-output
started=$SECONDS
dirty=$(git status --porcelain)
needs_pypi="The Python tests need packages from PyPI. Without it, run tests/run.sh --c-only."

# What a stage's output says of its tests, as "PASSED FAILED": cmocka's lines, or "N passed, N failed".
count() {
    awk '/^\[  PASSED  \] [0-9]+ test/ {good += $4} /^\[  FAILED  \] [0-9]+ test/ {bad += $4}
         /^[0-9]+ passed, [0-9]+ failed/ {good += $1; bad += $3} END {print good + 0, bad + 0}' "$1"
}

# stage NAME COMMAND...: runs the command, shows its output only if it fails, notes what came of it.
stage() {
    local name=$1 log begin=$SECONDS status=0 good bad
    shift
    log=$out/$(printf '%s' "$name" | tr -c 'a-zA-Z0-9\n' '_').log
    "$@" >"$log" 2>&1 || status=$?
    read -r good bad < <(count "$log")
    if [ "$bad" -eq 0 ] && { [ $status -ne 0 ] || [ "$good" -eq 0 ]; }; then
        echo "This stage ended with status $status and $good tests." >>"$log"
        bad=1
    fi
    echo "$good $bad $name" >>"$results"
    if [ "$bad" -gt 0 ]; then
        tail -n 60 "$log"
        printf '%-52s FAILED  %3d s\n' "$name" $((SECONDS - begin))
    else
        printf '%-52s ok      %3d s\n' "$name" $((SECONDS - begin))
    fi
}

# total COLUMN PATTERN: of the stages whose name matches.
total() {
    awk -v column="$1" -v pattern="$2" '{name = $0; sub(/^[0-9]+ [0-9]+ /, "", name)}
        name ~ pattern {n += $column} END {print n + 0}' "$results"
}

# Every cmocka program of a build directory.
run_programs() {
    local status=0
    for program in "$1"/tests/test_*; do
        if [ -f "$program" ] && [ -x "$program" ]; then
            "$program" || status=1
        fi
    done
    return $status
}

# Every test of the command-line tool.
run_tool() {
    local script status=0
    for script in tests/cli/test_cli*.sh; do
        bash "$script" "$1" || status=1
    done
    return $status
}

# run_scripts BUILD_DIRECTORY NAMES [OPTIONS]...: each tests/daemon/test_NAME.py.
run_scripts() {
    local build=$1 names=$2 name status=0
    shift 2
    for name in $names; do
        "$venv/bin/python" "tests/daemon/test_$name.py" "$build" "$@" || status=1
    done
    return $status
}

# One behaviour, said as a cmocka-like count: check NAME COMMAND...
check() {
    local name=$1
    shift
    if "$@"; then
        echo "1 passed, 0 failed"
    else
        echo "$name failed"
        echo "0 passed, 1 failed"
        return 1
    fi
}

format_is_clean() {
    git ls-files -co --exclude-standard -- '*.c' '*.h' | xargs "$venv/bin/clang-format" --dry-run -Werror
}

# Doxygen's warnings are errors: whatever is public in the headers has a comment.
api_is_documented() {
    doxygen env/Doxyfile && [ -s build/api/index.html ]
}

python_is_clean() {
    "$venv/bin/ruff" check --no-cache . && "$venv/bin/ruff" format --no-cache --check .
}

# What git sees besides what it saw before the tests, in $dirty.
tree_is_clean() {
    local more
    more=$(git status --porcelain | grep -vxF -e "$dirty" || true)
    echo "$more"
    [ -z "$more" ]
}

# The builds play alike: one signature over all of them.
one_signature() {
    local signature first=
    for dir in "$@"; do
        signature=$("$dir/trainyard" bench convoi --seconds 0.01 --doors inproc --json | grep -o '"signature":"[0-9a-f]*"' | sort -u)
        echo "$dir $signature"
        if [ -z "$signature" ] || { [ -n "$first" ] && [ "$signature" != "$first" ]; }; then
            return 1
        fi
        first=$signature
    done
}

# The same over both compilers, every level and every sanitizer: builds without tests.
one_signature_everywhere() {
    local compiler level sanitizer dir dirs=()
    mkdir -p build/signature
    for compiler in gcc clang; do
        for level in O0 O2 O3; do
            for sanitizer in "" address,undefined thread; do
                dir=build/signature/$compiler-$level${sanitizer:+-${sanitizer%%,*}}
                (build_in "$dir" -DCMAKE_C_COMPILER=$compiler -DCMAKE_BUILD_TYPE=Debug \
                    "-DCMAKE_C_FLAGS_DEBUG=-$level" "-DTRAINYARD_SANITIZE=$sanitizer" -DBUILD_TESTING=OFF) || return 1
                dirs+=("$dir")
            done
        done
    done
    one_signature "${dirs[@]}"
}

# The formatters and what the daemon's tests need. Without PyPI the tests of the C code do without the formatters.
tools_install() {
    echo "Installing the formatters and what the daemon's tests need into build/venv"
    python3 -m venv "$venv"
    if "$venv/bin/pip" install -q --disable-pip-version-check clang-format==19.1.7 ruff==0.17.4 pyzmq msgpack numpy >"$out/pip.log" 2>&1; then
        return
    fi
    tail -n 3 "$out/pip.log"
    if [ $python = yes ]; then
        echo "$needs_pypi" >&2
        exit 1
    fi
    echo "PyPI cannot be reached: Python's modules come from Debian, and the format of the source is not checked."
    install_debian python3-zmq python3-msgpack python3-numpy
    /usr/bin/python3 -m venv --clear --system-site-packages "$venv"
}

# Everything that the Python tests need, and the package itself, in one virtual environment.
python_install() {
    # What no test imports is not compiled to bytecode: that takes as long as everything else of the installation.
    local pip=("$venv/bin/pip" install -q --no-compile --disable-pip-version-check)
    if ! "${pip[@]}" -r agents/python/tests/requirements.txt playwright==1.65.0 ||
        ! "${pip[@]}" --force-reinstall --no-deps -C cmake.define.TRAINYARD_LTO=OFF .; then
        echo "$needs_pypi"
        return 1
    fi
}

# python_tests PART: every second file. pytest's count in the words of the other stages; errors and skipped tests count as
# failures.
python_tests() {
    local report=$out/pytest.$1.xml status=0 files=(agents/python/tests/test_*.py) chosen=() i
    for ((i = $1; i < ${#files[@]}; i += 2)); do chosen+=("${files[i]}"); done
    rm -f "$report"
    # The other worker has the other core.
    OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 \
        "$venv/bin/python" -m pytest -q --junitxml="$report" "${chosen[@]}" || status=$?
    "$venv/bin/python" - "$report" <<'END'
import sys
import xml.etree.ElementTree as tree

suite = tree.parse(sys.argv[1]).getroot()[0]
count = {key: int(suite.get(key)) for key in ("tests", "failures", "errors", "skipped")}
bad = count["failures"] + count["errors"] + count["skipped"]  # everything that is needed was installed
print(f"{count['tests'] - bad} passed, {bad} failed")
END
    return $status
}

# The races that ThreadSanitizer finds, over everything that has threads.
thread_programs=(test_pool test_pool_agents test_pool_independence test_pool_seats test_pool_snapshot test_pool_members test_shm test_shm_harm
    test_shm_faults test_shm_lies test_dispatch_sessions test_dispatch_pools test_dispatch_members test_small_steps test_doors
    test_daemon_start test_daemon_files test_replay test_recorder test_log_faults test_log_keep test_log_open)
run_threads() {
    local status=0
    for program in "${thread_programs[@]}"; do
        TRAINYARD_LONG=0 TSAN_OPTIONS="suppressions=$top/tests/tsan.supp halt_on_error=1" "build/tsan/tests/$program" || status=1
    done
    return $status
}

say "Installing what is missing"
install_debian build-essential clang cmake pkg-config git python3 python3-venv libcmocka-dev libjansson-dev libzmq3-dev "$msgpack" \
    libmicrohttpd-dev libclang-rt-dev doxygen systemd
if [ $python = yes ]; then
    install_debian chromium fonts-dejavu-core
fi
if [ $long = yes ]; then
    export TRAINYARD_LONG=1
    install_debian clang-tidy cppcheck llvm
fi
venv=$top/build/venv
mkdir -p "$out"
if [ ! -x "$venv/bin/clang-format" ] || [ ! -x "$venv/bin/ruff" ] || ! "$venv/bin/python" -c 'import zmq, msgpack, numpy' 2>/dev/null; then
    tools_install
fi

results=$out/results
: >"$results"
rm -f "$out"/built.*

# Python's packages come and are unpacked while the compilers work, and tests that need none of them run.
job_install() {
    if [ $python = yes ]; then
        stage "install: what the tests need of PyPI" check "install" python_install
    fi
    touch "$out/built.venv"
}
job_install &

say "Building with warnings as errors"
build_in build/gcc -DCMAKE_BUILD_TYPE=Release -DTRAINYARD_WERROR=ON
echo "gcc -O3; the other builds are made beside the tests"

# ---- What is tested: each job is one or more stages

# build_more NAME: a build besides the first, with the one processor that a job has.
build_more() {
    # Lines are all that reports need of debugging information; the rest takes a fifth of the compilers' time.
    local options=(-DTRAINYARD_WERROR=ON -DCMAKE_BUILD_TYPE=None '-DCMAKE_C_FLAGS=-O2 -g1')
    case $1 in
    # Only its signature is looked at; the long run has the tests compiled as well.
    debug) options=(-DTRAINYARD_WERROR=ON -DCMAKE_BUILD_TYPE=Debug -DBUILD_TESTING=$([ $long = yes ] && echo ON || echo OFF)) ;;
    clang) options+=(-DCMAKE_C_COMPILER=clang) ;;
    asan) options+=(-DTRAINYARD_SANITIZE=address,undefined) ;;
    tsan) options+=(-DTRAINYARD_SANITIZE=thread) ;;
    fuzz) options+=(-DTRAINYARD_FUZZ=ON -DCMAKE_C_COMPILER=clang) ;;
    esac
    (jobs=1 build_in "build/$1" "${options[@]}")
}
job_build() {
    stage "build: $1" check "build" build_more "$1"
    touch "$out/built.$1"
}
# Waits for builds, or for "venv"; where one has failed, so does what needs it. Builds are the first jobs, so somebody is at it.
needs() {
    local name
    for name in "$@"; do
        until [ -e "$out/built.$name" ]; do sleep 1; done
    done
}

job_source() {
    if [ -x "$venv/bin/ruff" ]; then
        stage "source format" check "format" format_is_clean
        stage "ruff, check and format" check "ruff" python_is_clean
    else
        echo "source format                                        NOT CHECKED: clang-format and ruff are PyPI's"
    fi
    stage "API reference" check "doxygen" api_is_documented
    stage "include rules" tests/check_includes.sh
    needs asan fuzz debug
    stage "one signature over four builds" check "signature" one_signature build/gcc build/debug build/fuzz build/asan
}
job_python() { needs venv && stage "Python package, files $1, $(($1 + 2)), ..." python_tests "$1"; }
job_units_checked() { needs asan && stage "unit and rule tests, ASan+UBSan" run_programs build/asan; }
job_units() { stage "unit and rule tests, gcc -O3" run_programs build/gcc; }
job_examples() { needs venv && stage "examples, and agents from outside" bash tests/cli/test_examples.sh build/gcc "$venv/bin/python"; }
job_referee() { stage "referee written from the rulebook" bash tests/oracle/run.sh build/gcc $([ $long = no ] && echo 12 || echo 20000); }
# The default run has the framework that is light; the others take minutes to install.
job_llm() {
    needs venv
    stage "language models' frameworks" tests/llm/run.sh build/gcc $([ $long = yes ] || echo mcp)
    sed -n '/^NOT CHECKED/s/^/    /p' "$out/language_models__frameworks.log"
}
job_window() {
    needs venv
    stage "pages in a browser" "$venv/bin/python" tests/window/test_view.py build/gcc
    stage "live pages in a browser" "$venv/bin/python" tests/window/test_serve.py build/gcc
}
job_harm() {
    needs venv
    stage "daemon among harmful clients" run_scripts build/gcc daemon_harm $more
    stage "malformed messages" run_scripts build/gcc daemon_malformed $more
}
job_daemon() { needs venv && stage "daemon: real processes and sockets" run_scripts build/gcc "daemon daemon_shm daemon_logs daemon_journal daemon_operate daemon_deploy daemon_limits daemon_secrets daemon_work daemon_documents" $more; }
job_daemon_checked() {
    needs asan venv
    stage "daemon with ASan+UBSan" run_scripts build/asan "daemon daemon_shm daemon_logs daemon_journal daemon_operate"
    stage "malformed messages, ASan+UBSan" run_scripts build/asan daemon_malformed
}
job_tool() {
    stage "command-line tool" run_tool build/gcc
    stage "installed library" bash tests/cli/test_install.sh build/gcc
}
# At least 20 seconds for each target, and more until it has made a million runs.
job_fuzz() {
    needs fuzz
    stage "fuzzing: $1" tests/fuzz.sh build/fuzz $([ $long = no ] && echo 20 1000000 45 || echo 3600 1000000000 3600) "$1"
}

# The wheel, in the long run with every Python and the whole first hour. What is shipped holds libraries that take four
# minutes of a processor to build; where they are not there from an earlier run, the default one tries a native wheel.
wheel_works() {
    local arch
    arch=$(uname -m)
    [ $long = yes ] || libraries_are_there "$arch" || arch=native
    rm -rf build/dist
    tests/wheel.sh build/dist "$arch" && tests/packaging/test_wheel.sh build/dist/*.whl $([ $long = yes ] || echo "$venv/bin/python")
}
job_wheel() {
    needs venv
    stage "wheel, where nothing else is" wheel_works
    stage "first hour with the wheel" tests/first_hour.sh $([ $long = yes ] || echo --cheap) build/dist/*.whl
    sed -n '/ [0-9]* s$/s/^/    /p' "$out/first_hour_with_the_wheel.log"
}

# Every job, in an order in which nobody waits for a build and the last ones are short.
jobs_all() {
    [ $python = no ] || echo "job_python 0"
    printf 'job_build %s\n' asan fuzz debug $([ $long = no ] || echo clang tsan)
    [ $python = no ] || printf '%s\n' "job_python 1" job_wheel job_llm job_window
    printf '%s\n' job_units job_examples job_units_checked "job_fuzz board" "job_fuzz dispatch" "job_fuzz replay" "job_fuzz wire" \
        job_referee job_harm job_daemon_checked job_daemon job_tool job_source
}

# The next job of the list; fails when there is none.
job_take() {
    local job
    {
        flock 9
        job=$(head -n 1 "$out/jobs")
        sed -i 1d "$out/jobs"
    } 9>"$out/jobs.lock"
    [ -n "$job" ] && echo "$job"
}

# Does jobs until there are no more. Each worker has a runtime directory of its own.
worker() {
    local job XDG_RUNTIME_DIR
    XDG_RUNTIME_DIR=$(mktemp -d)
    export XDG_RUNTIME_DIR
    while job=$(job_take); do
        $job
    done
    rm -r "$XDG_RUNTIME_DIR"
}

stages_long() {
    [ $python = no ] || stage "other processors" tests/packaging/test_foreign.sh
    stage "Debian package" tests/packaging/test_deb.sh
    stage "one signature over eighteen builds" check "signature" one_signature_everywhere
    stage "threads, TSan" run_threads
    stage "static analysis" tests/analyze.sh build/debug
    stage "coverage of env and proto" env TRAINYARD_LONG=0 tests/coverage.sh build/coverage "$venv/bin/python"
    cat "$out/coverage_of_env_and_proto.log"
}

say "Testing"
more=$([ $long = no ] || echo --long)
jobs_all >"$out/jobs"
# One worker more than processors: tests of lost daemons and silent clients wait more than they work.
for _ in $(seq 0 "$(nproc)"); do
    worker &
done
wait
if [ -s "$out/jobs" ]; then
    echo "0 1 jobs that nobody did: $(paste -sd ' ' "$out/jobs")" >>"$results"
fi
cat "$out"/fuzzing__*.log | grep ' runs in ' || true
if [ $long = yes ]; then
    stages_long
fi
stage "nothing left in the source tree" check "tree" tree_is_clean

say "Summary"
passed=$(total 1 .)
failed=$(total 2 .)
awk '$2 > 0 {sub(/^[0-9]+ [0-9]+ /, "failed: "); print}' "$results"
echo "time: $((SECONDS - started)) s"
echo "C: $((passed - $(total 1 Python))) passed, $((failed - $(total 2 Python))) failed"
if [ $python = yes ]; then
    echo "Python: $(total 1 Python) passed, $(total 2 Python) failed"
fi
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
