#!/usr/bin/env bash
# Frameworks for language models play our games, each in a virtual environment of its own: their
# versions exclude each other.
#
#   tests/llm/run.sh BUILD_DIRECTORY [NAME]...      NAME: mcp, openenv, verifiers, trl; all of them by default
#
# The environments are made in build/llm the first time. What was not asked for is named at the end.
set -euo pipefail
top=$(cd "$(dirname "$0")/../.." && pwd)
build=$(cd "${1:?usage: tests/llm/run.sh BUILD_DIRECTORY [NAME]...}" && pwd)
shift
all=(mcp openenv verifiers trl)
names=("$@")
[ ${#names[@]} -gt 0 ] || names=("${all[@]}")
passed=0
failed=0

# The environment of a framework; it is made anew when its requirements change.
environment() {
    local venv=$top/build/llm/$1 needs=$top/tests/llm/requirements-$1.txt
    if ! cmp -s "$needs" "$venv/made-from.txt"; then
        python3 -m venv --clear "$venv"
        "$venv/bin/pip" install -q --disable-pip-version-check -r "$needs"
        cp "$needs" "$venv/made-from.txt"
    fi
}

# Skipped tests count as failures: what they need was installed.
count() {
    python3 - "$1" <<'END'
import sys
import xml.etree.ElementTree as tree

suite = tree.parse(sys.argv[1]).getroot()[0]
bad = sum(int(suite.get(key)) for key in ("failures", "errors", "skipped"))
print(int(suite.get("tests")) - bad, bad)
END
}

for name in "${names[@]}"; do
    if [ ! -f "$top/tests/llm/test_$name.py" ]; then
        echo "tests/llm/run.sh: no test is named '$name'; there are ${all[*]}" >&2
        exit 2
    fi
    mkdir -p "$top/build/llm"
    report=$top/build/llm/$name.xml
    rm -f "$report"
    environment "$name"
    TRAINYARD_LIBRARY=$build/libtrainyard.so PYTHONPATH=$top/agents/python PYTHONDONTWRITEBYTECODE=1 \
        "$top/build/llm/$name/bin/python" -m pytest -q -p no:cacheprovider --junitxml="$report" "$top/tests/llm/test_$name.py" || true
    read -r good bad < <(count "$report")
    passed=$((passed + good))
    failed=$((failed + bad))
done
for name in "${all[@]}"; do
    [[ " ${names[*]} " = *" $name "* ]] || echo "NOT CHECKED: $name"
done
echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
