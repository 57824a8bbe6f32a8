#!/usr/bin/env bash
# Records episodes, verifies them, changes one action in the file, and finds out which.
#
#   examples/replay.sh [BUILD DIRECTORY]
set -euo pipefail
top=$(cd "$(dirname "$0")/.." && pwd)
trainyard=${1:-$top/build/release}/trainyard
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

echo "# Record ten episodes: the ruleset with its board, the seeds, every action, and hashes."
"$trainyard" sim convoi:board=tiny --agents expert,random --episodes 10 --seed 7 --log "$work/log" >"$work/results"
log=$(echo "$work"/log/*.tylog)

echo "# Play them again and compare every step."
"$trainyard" replay verify "$log"

echo "# What happened in the first one?"
"$trainyard" replay show "$log" --episode 0 >"$work/first"
sed -n '1,6p' "$work/first"

echo "# One action is changed: episode 3, step 12."
python3 "$top/tests/replay/log_tool.py" flip "$log" 3 12 "$work/forged.tylog"

echo "# Which? (The status is 1, since the file is not what was played.)"
"$trainyard" replay bisect "$work/forged.tylog" && exit 1
exit 0
