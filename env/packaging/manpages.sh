#!/usr/bin/env bash
# Writes the manual pages from what the programs say for --help: env/packaging/manpages.sh BUILD_DIRECTORY MAN_DIRECTORY.
# `trainyard COMMAND` gets the page trainyard-COMMAND(1), the daemon trainyardd(8).
set -euo pipefail
build=$(cd "$1" && pwd)
mkdir -p "$2/man1" "$2/man8"
man=$(cd "$2" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
version=$("$build/trainyard" --version | sed 's/.* //')

# page NAME SECTION ABOUT COMMAND...: help2man asks a program of that name, and wants its headings capitalised.
page() {
    local name=$1 section=$2 about=$3
    shift 3
    "$@" --help | sed 's/^\([a-z]\)\([a-z ]*:\)/\U\1\E\2/' >"$work/text"
    printf '#!/bin/sh\ncat "%s"\n' "$work/text" >"$work/$name"
    chmod +x "$work/$name"
    help2man --no-info --section="$section" --name="$about" --source="Trainyard $version" --version-string="$version" \
        --output="$man/man$section/$name.$section" "$work/$name"
}

page trainyard 1 "play, simulate and compare agents on train board games" "$build/trainyard"
page trainyardd 8 "serve train board games to agents in other processes" "$build/trainyardd"
"$build/trainyard" --help | sed -n '/^commands:/,/^[^ ]/s/^  \([a-z]*\)  *\(.*\)/\1 \2/p' >"$work/commands"
while read -r command about; do
    page "trainyard-$command" 1 "$about" "$build/trainyard" "$command"
done <"$work/commands"
