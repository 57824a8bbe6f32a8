#!/usr/bin/env bash
# The smallest ruleset of every game of a build, one a line: tests/support/small_rulesets.sh BUILD_DIRECTORY
set -eu
"$1/trainyard" describe --json | python3 -c '
import json, sys

for game in json.load(sys.stdin)["games"]:
    print(game["game"] + (":" + game["small"] if game["small"] else ""))'
