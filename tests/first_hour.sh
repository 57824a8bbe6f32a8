#!/usr/bin/env bash
# A researcher's first hour: an empty virtual environment, the wheel, and what one does with it then. Each step says how
# long it took.
#
#   tests/first_hour.sh [--cheap] [WHEEL]     without WHEEL it is built first, by tests/wheel.sh
#
# --cheap leaves out what needs the large frameworks and the learner's two minutes. PYTHON is the interpreter (python3).
set -euo pipefail
top=$(cd "$(dirname "$0")/.." && pwd)
cheap=no
wheel=
for argument in "$@"; do
    case $argument in
    --cheap) cheap=yes ;;
    -*)
        sed -n '2,7s/^# \{0,1\}//p' "$0"
        [ "$argument" = --help ] && exit 0
        exit 2
        ;;
    *) wheel=$(realpath "$argument") ;;
    esac
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
venv=$work/venv
passed=0
failed=0

# step WHAT COMMAND...: shows the output only if it fails.
step() {
    local what=$1 begin=$SECONDS
    shift
    if "$@" >"$work/log" 2>&1; then
        passed=$((passed + 1))
        printf '%-60s %4d s\n' "$what" $((SECONDS - begin))
    else
        failed=$((failed + 1))
        tail -n 40 "$work/log"
        printf '%-60s FAILED\n' "$what"
    fi
}

install() {
    "$venv/bin/pip" install -q --disable-pip-version-check "$@"
}

# Nothing but the wheel: not the sources of this repository, not the environment's variables.
run() {
    (cd "$work/here" && env -i PATH="$venv/bin:/usr/bin:/bin" HOME="$work/here" "$@")
}

mkdir "$work/here"
cp -r "$top/examples" "$work/examples"
if [ -z "$wheel" ]; then
    step "the wheel is built" "$top/tests/wheel.sh" "$work/dist"
    wheel=$(echo "$work"/dist/*.whl)
fi
step "an empty virtual environment" "${PYTHON:-python3}" -m venv "$venv"
step "pip install $(basename "$wheel")" install "$wheel"
step "README: the first lines" run python "$top/tests/support/document.py" "$top/README.md"
step "the command-line tool" run trainyard sim convoi --agent expert --episodes 100
if [ $cheap = yes ]; then
    step "the tour, without Stable-Baselines3" run python "$top/tests/support/document.py" "$top/examples/tour.md" --without sb3_contrib
else
    # In the versions that the tests of the package have.
    sed '/^#/d; s/\[.*\]//' "$top/agents/python/tests/requirements.txt" >"$work/versions"
    step "pip install of the frameworks" install -c "$work/versions" "$wheel[gym,pettingzoo,sb3,torchrl,rllib]" matplotlib
    step "the tour" run python "$top/tests/support/document.py" "$top/examples/tour.md"
    for adapter in gymnasium pettingzoo stable_baselines3 torchrl rllib; do
        step "$adapter: its own checker" run python "$top/tests/packaging/checkers.py" "$adapter"
    done
    step "a learner of two minutes" run python "$work/examples/learn_small.py" --minutes 2 --plot learned.png
    sed 's/^/    /' "$work/log" | tail -n 3
fi
echo "in all: $SECONDS s"
echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
