#!/usr/bin/env bash
# Installs a build and uses it as strangers would: through pkg-config and through CMake.
set -eu
build=$(cd "$1" && pwd)
top=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0

cmake --install "$build" --prefix "$work/prefix" >/dev/null
mkdir "$work/user"
cp "$top/examples/episode.c" "$work/user/main.c"
cat >"$work/user/CMakeLists.txt" <<'EOF'
cmake_minimum_required(VERSION 3.22)
project(user C)
find_package(trainyard REQUIRED)
add_executable(user main.c)
target_link_libraries(user trainyard::trainyard)
EOF

library=$(dirname "$(find "$work/prefix" -name trainyard.pc)")
export PKG_CONFIG_PATH=$library
cc -std=c17 "$work/user/main.c" $(pkg-config --cflags --libs trainyard) -o "$work/by-pkg-config"
LD_LIBRARY_PATH=$(dirname "$library") "$work/by-pkg-config" 7 >"$work/one"
grep -q 'delivered' "$work/one"
passed=$((passed + 1))

cmake -S "$work/user" -B "$work/user/build" -DCMAKE_PREFIX_PATH="$work/prefix" >/dev/null
cmake --build "$work/user/build" >/dev/null
"$work/user/build/user" 7 >"$work/two"
cmp "$work/one" "$work/two"
passed=$((passed + 1))

cc -std=c17 "$work/user/main.c" $(pkg-config --cflags trainyard) \
    "$(dirname "$library")/libtrainyard.a" $(pkg-config --libs jansson) -lm -o "$work/static"
"$work/static" 7 >"$work/three"
cmp "$work/one" "$work/three"
passed=$((passed + 1))

# Only names of the public interface leave the static library, the same as of the shared one: a program may
# call its own functions what it likes.
archive=$(dirname "$library")/libtrainyard.a
nm -g --defined-only "$archive" | awk 'NF == 3 {print $3}' | sort >"$work/static-names"
nm -D --defined-only "$(dirname "$library")/libtrainyard.so" | awk '{print $3}' | sort >"$work/shared-names"
if grep -v '^ty_' "$work/static-names"; then
    echo "libtrainyard.a exports more than its interface"
    exit 1
fi
cmp "$work/static-names" "$work/shared-names"
nm "$archive" | awk '$2 == "t" && $3 !~ /[.]/ {print $3}' | sort -u >"$work/own-names"
[ "$(wc -l <"$work/own-names")" -ge 100 ]
sed 's/.*/int &(void); int &(void) { return 1; }/' "$work/own-names" >"$work/user/names.c"
cc -std=c17 -fno-builtin "$work/user/main.c" "$work/user/names.c" $(pkg-config --cflags trainyard) "$archive" \
    $(pkg-config --libs jansson) -lm -o "$work/named"
"$work/named" 7 | cmp "$work/one" -
passed=$((passed + 1))

"$work/prefix/bin/trainyard" --version | grep -q '[0-9]'
passed=$((passed + 1))

# A game of the user's own, built against what is installed, in the tool.
cmake -S "$top/examples/own_game" -B "$work/own_game" -DCMAKE_PREFIX_PATH="$work/prefix" >/dev/null
cmake --build "$work/own_game" >/dev/null
own_game=$work/own_game/libtictactoe.so
export own_game
"$work/prefix/bin/trainyard" --load "$own_game" sim tictactoe --agent random --episodes 500 --json >"$work/said"
grep -q '"ruleset":"tictactoe"' "$work/said"
passed=$((passed + 1))
if "$work/prefix/bin/trainyard" sim tictactoe 2>"$work/said"; then
    echo "a game that was not loaded plays"
    exit 1
fi
grep -q "unknown game 'tictactoe'" "$work/said"
passed=$((passed + 1))
for wrong in "$work/nothing.so" "$(dirname "$library")/libtrainyard.so" libtictactoe.so; do
    if "$work/prefix/bin/trainyard" --load "$wrong" describe 2>"$work/said" >/dev/null; then
        echo "--load $wrong is accepted"
        exit 1
    fi
    grep -qE 'No such file|no TY_PLUGIN|give a path' "$work/said"
    passed=$((passed + 1))
done

# Only names of the public interface leave the shared libraries.
for name in trainyard trainyard_client; do
    if nm -D --defined-only "$(dirname "$library")/lib$name.so" | awk '{print $3}' | grep -v '^ty_'; then
        echo "lib$name.so exports more than its interface"
        exit 1
    fi
    passed=$((passed + 1))
done

# A client of the installed daemon, over ZeroMQ and through shared memory.
mkdir "$work/client"
cat >"$work/client/main.c" <<'EOF'
#include "proto/client.h"
#include <stdio.h>
#include <stdlib.h>

static void check(TyStatus status)
{
    if (status.code != TY_OK) {
        fprintf(stderr, "%s\n", status.message);
        exit(1);
    }
}

int main(int argc, char **argv)
{
    TyClient *client;
    TyClientPool pool;
    TyClientRows rows;
    TyShmClient *shm;
    int32_t actions[4] = {0};
    (void)argc;
    check(ty_client_connect(&(TyClientConfig){.endpoint = argv[1]}, &client));
    check(ty_client_open_pool(client, &(TyClientOpen){.ruleset = "convoi", .slots = 4}, &pool));
    check(ty_client_reset(client, &pool, NULL, NULL, &rows));
    check(ty_client_step(client, &pool, 0, actions, &rows));
    printf("%u rows by messages\n", rows.count);
    check(ty_client_open_pool(client, &(TyClientOpen){.ruleset = "convoi", .shm = true}, &pool));
    check(ty_client_attach(client, &pool, &shm));
    for (int i = 0; i < 100; i++) {
        ty_sample_rows(ty_shm_slab(shm), 0, 1);
        if (!ty_shm_submit(shm, 0, NULL) || ty_shm_wait(shm, 0, -1) != TY_SHM_READY) {
            return 1;
        }
    }
    printf("%u rows through memory\n", ty_shm_news(shm, 0).ready);
    ty_shm_close(shm);
    ty_client_close(client);
    return 0;
}
EOF
cat >"$work/client/CMakeLists.txt" <<'EOF'
cmake_minimum_required(VERSION 3.22)
project(client C)
find_package(trainyard REQUIRED)
add_executable(client main.c)
target_link_libraries(client trainyard::trainyard_client)
EOF
cc -std=c17 "$work/client/main.c" $(pkg-config --cflags --libs trainyard_client) -o "$work/client/by-pkg-config"
cmake -S "$work/client" -B "$work/client/build" -DCMAKE_PREFIX_PATH="$work/prefix" >/dev/null
cmake --build "$work/client/build" >/dev/null
mkdir -m 700 "$work/run"
"$work/prefix/bin/trainyardd" --listen "ipc://$work/run/d" >"$work/ready" &
daemon=$!
trap 'kill $daemon; rm -rf "$work"' EXIT
until grep -q ready "$work/ready"; do
    kill -0 $daemon
    sleep 0.05
done
for client in "$work/client/by-pkg-config" "$work/client/build/client"; do
    LD_LIBRARY_PATH=$(dirname "$library") "$client" "ipc://$work/run/d" >"$work/said"
    grep -q '4 rows by messages' "$work/said"
    grep -q '1 rows through memory' "$work/said"
    passed=$((passed + 1))
done
for name in zmq_client shm_client own_agent; do
    cc -std=c17 -Wall -Werror "$top/examples/$name.c" $(pkg-config --cflags --libs trainyard_client) -o "$work/client/$name"
    passed=$((passed + 1))
done
if ldd "$(dirname "$library")/libtrainyard.so" | grep zmq; then
    echo "the core needs ZeroMQ"
    exit 1
fi
passed=$((passed + 1))

# Where something to build with is missing, all of it is named, as Debian calls it.
mkdir "$work/path" "$work/nothing"
for name in cmake make; do
    ln -s "$(command -v $name)" "$work/path/$name"
done
if PKG_CONFIG_LIBDIR=$work/nothing CC=cc cmake -S "$top" -B "$work/without-libraries" -DCMAKE_FIND_ROOT_PATH="$work/nothing" \
    -DCMAKE_FIND_ROOT_PATH_MODE_PACKAGE=ONLY >"$work/said" 2>&1; then
    echo "it is configured without libraries"
    exit 1
fi
tr -s ' \n' ' ' <"$work/said" | grep -q 'are missing: libjansson-dev libzmq3-dev libmsgpack-dev (from Debian 13 on libmsgpack-c-dev)[.]'
passed=$((passed + 1))
if env -i PATH="$work/path" cmake -S "$top" -B "$work/without-anything" -DCMAKE_FIND_USE_CMAKE_SYSTEM_PATH=OFF >"$work/said" 2>&1; then
    echo "it is configured without a compiler"
    exit 1
fi
tr -s ' \n' ' ' <"$work/said" | grep -q 'are missing: build-essential pkg-config libjansson-dev libzmq3-dev'
passed=$((passed + 1))
echo "$passed passed, 0 failed"
