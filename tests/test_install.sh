#!/usr/bin/env bash
# Installs a build and uses it as strangers would: through pkg-config and through CMake.
set -eu
build=$(cd "$1" && pwd)
top=$(cd "$(dirname "$0")/.." && pwd)
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

"$work/prefix/bin/trainyard" --version | grep -q '[0-9]'
passed=$((passed + 1))

# Only names of the public interface leave the shared library.
if nm -D --defined-only "$(dirname "$library")/libtrainyard.so" | awk '{print $3}' | grep -v '^ty_'; then
    echo "the shared library exports more than its interface"
    exit 1
fi
passed=$((passed + 1))
echo "$passed passed, 0 failed"
