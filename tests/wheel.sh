#!/usr/bin/env bash
# Builds the wheel: library, daemon and command-line tool in one file that needs nothing but glibc where it is installed.
#
#   tests/wheel.sh OUTDIR [ARCH]     ARCH is this machine's unless told: x86_64, aarch64; or native
#
# The first run fetches a compiler and builds the libraries that go into it, some minutes; a native wheel, for tests, is
# built by this machine's own compiler, for its glibc and later ones, in a quarter of the time. All is kept in
# ${TRAINYARD_CACHE:-~/.cache/trainyard}. env/packaging/README.md has the details.
set -euo pipefail
top=$(cd "$(dirname "$0")/.." && pwd)
cd "$top"
. tests/setup.sh
. env/packaging/libraries.sh

if [ $# -lt 1 ] || [ $# -gt 2 ] || [ "${1#-}" != "$1" ]; then
    sed -n '2,8s/^# \{0,1\}//p' "$0"
    [ "${1:-}" = --help ] || exit 2
    exit 0
fi
mkdir -p "$1"
out=$(cd "$1" && pwd)
arch=${2:-$(uname -m)}
linking=-s
case $arch in
x86_64 | aarch64) ;;
native)
    wheel_glibc=$(getconf GNU_LIBC_VERSION | cut -d' ' -f2)
    linking="-s -static-libgcc -Wl,--exclude-libs,ALL -Wl,--gc-sections"
    ;;
*)
    echo "tests/wheel.sh: there are wheels for x86_64, aarch64 and native, not for '$arch'" >&2
    exit 2
    ;;
esac

install_debian cmake make pkg-config python3 python3-venv
tools_prepare "$arch"
if ! libraries_are_there "$arch"; then
    install_debian autoconf automake libtool dpkg-dev
    echo "Building libsodium, libzmq, msgpack-c, jansson and libmicrohttpd for $arch into $wheel_cache/$arch"
    mkdir -p "$wheel_cache/$arch"
    env/packaging/libraries.sh "$arch" >"$wheel_cache/$arch/log" 2>&1 || {
        tail -n 40 "$wheel_cache/$arch/log"
        exit 1
    }
fi

# What is linked comes from $prefix alone; nothing is found in the system by accident. Unwind tables of C code would only
# serve debuggers, to which stripped programs tell little, and take 3 % of the wheel.
prefix=$wheel_cache/$arch
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export PKG_CONFIG_LIBDIR=$prefix/lib/pkgconfig CMAKE_BUILD_PARALLEL_LEVEL=${CMAKE_BUILD_PARALLEL_LEVEL:-$(nproc)}
export CMAKE_ARGS="-DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR=$(machine "$arch") -DCMAKE_C_COMPILER=$prefix/bin/cc \
    -DCMAKE_AR=$prefix/bin/ar -DCMAKE_RANLIB=$prefix/bin/ranlib -DPKG_CONFIG_ARGN=--static \
    -DCMAKE_FIND_ROOT_PATH=$prefix -DCMAKE_FIND_ROOT_PATH_MODE_PACKAGE=ONLY -DCMAKE_FIND_ROOT_PATH_MODE_LIBRARY=ONLY \
    '-DCMAKE_C_FLAGS=-ffile-prefix-map=$top=. -fno-asynchronous-unwind-tables' -DTRAINYARD_LTO=OFF \
    -DTRAINYARD_LICENSES=$prefix/licenses"
export LDFLAGS=$linking
"$wheel_cache/tools/bin/python" -m build -q --wheel --no-isolation -C "build-dir=build/wheel-$arch" --outdir "$work" . \
    >"$work/log" 2>&1 || {
    tail -n 60 "$work/log"
    exit 1
}

# Where it runs depends on the glibc that its symbols ask for, which auditwheel looks up, not on this machine's.
tag=manylinux_${wheel_glibc/./_}_$(machine "$arch")
"$wheel_cache/tools/bin/wheel" tags --remove --platform-tag "$tag" "$work"/*.whl >/dev/null
"$wheel_cache/tools/bin/auditwheel" show "$work"/*.whl | tee "$work/audit"
allowed=$(tr '\n' ' ' <"$work/audit" | sed -n 's/.*is consistent with the following platform tag: "manylinux_2_\([0-9]*\)_'"$(machine "$arch")"'".*/\1/p')
if [ "${allowed:-1000}" -gt "${wheel_glibc#2.}" ]; then
    echo "auditwheel finds more in it than $tag allows" >&2
    exit 1
fi
mv "$work"/*.whl "$out"
ls -l "$out"/*"$tag".whl
