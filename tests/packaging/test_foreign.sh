#!/usr/bin/env bash
# Builds for other processors play as this one: the wheel for aarch64 and the core for s390x, which is big-endian, both
# under qemu, print the signature of tests/golden/signature.txt.
set -euo pipefail
top=$(cd "$(dirname "$0")/../.." && pwd)
cd "$top"
. tests/setup.sh
. env/packaging/libraries.sh
install_debian qemu-user libc6-arm64-cross libc6-s390x-cross autoconf automake libtool dpkg-dev
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
expected=$(cat tests/golden/signature.txt)
passed=0

same() {
    echo "$1: $2"
    [ "$2" = "$expected" ] || { echo "expected $expected"; exit 1; }
    passed=$((passed + 1))
}

# ---- aarch64: the whole wheel

tests/wheel.sh "$work" aarch64
python3 -m zipfile -e "$work"/*_aarch64.whl "$work/in"
chmod +x "$work"/in/trainyard/bin/*
arm=(qemu-aarch64 -L /usr/aarch64-linux-gnu)
same aarch64 "$("${arm[@]}" "$work/in/trainyard/bin/trainyard" bench convoi --seconds 0.01 --doors inproc --json |
    sed -n 's/.*"signature":"\([0-9a-f]*\)".*/\1/p' | sort -u)"

# Its daemon serves its tool.
mkdir -m 700 "$work/run"
: >"$work/ready"
"${arm[@]}" "$work/in/trainyard/bin/trainyardd" --listen "ipc://$work/run/d" >"$work/ready" &
daemon=$!
trap 'kill $daemon 2>/dev/null || true; rm -rf "$work"' EXIT
until grep -q ready "$work/ready"; do
    kill -0 $daemon
    sleep 0.1
done
"${arm[@]}" "$work/in/trainyard/bin/trainyard" stats --connect "ipc://$work/run/d" | grep sessions
kill $daemon
wait $daemon
passed=$((passed + 1))

# ---- s390x: the core alone

if ! libraries_are_there s390x jansson; then
    env/packaging/libraries.sh s390x jansson >"$work/log" 2>&1 || { tail -n 20 "$work/log"; exit 1; }
fi
cat >"$work/main.c" <<'END'
#include "bench/signature.h"

#include <inttypes.h>
#include <stdio.h>

int main(void)
{
    printf("%016" PRIx64 "\n", signature_compute());
    return 0;
}
END
# The built-in files are the other build's.
"$wheel_cache/s390x/bin/cc" -w -std=c17 -I. -Ienv -I"$wheel_cache/s390x/include" -o "$work/signature" "$work/main.c" \
    build/wheel-aarch64/generated/data.c \
    bench/signature.c env/*.c env/core/*.c env/kit/*.c env/load/*.c env/pool/*.c env/replay/*.c env/games/*/*.c agents/*.c \
    proto/client_shm*.c "$wheel_cache/s390x/lib/libjansson.a" -lm -lpthread -ldl
same s390x "$(qemu-s390x -L /usr/s390x-linux-gnu "$work/signature")"
echo "$passed passed, 0 failed"
