#!/usr/bin/env bash
# A compiler for an old glibc, and the libraries that the wheel holds, as archives whose names are hidden. The sources
# are Debian's, with its security patches; nothing of the system is linked.
#
#   env/packaging/libraries.sh ARCH [SOURCE...]     builds them for x86_64, aarch64 or s390x
#   env/packaging/libraries.sh native               for this machine alone, by its own compiler, in a quarter of the time
#
# Everything is kept in $wheel_cache, in a directory for each processor, and made again when this file changes; remove the
# folder to have what Debian has mended since. tests/wheel.sh and others source this file.

wheel_cache=${TRAINYARD_CACHE:-${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/trainyard}
# The oldest glibc that has memfd_create, which the daemon's shared memory is made with.
wheel_glibc=2.27
wheel_tools=(auditwheel==6.8.2 build==1.6.1 wheel==0.48.0 scikit-build-core==1.1.1)
wheel_compiler=ziglang==0.17.0
wheel_sources=(libsodium zeromq3 jansson msgpack-c libmicrohttpd) # libzmq needs libsodium

# tools_prepare ARCH: what builds and looks at wheels. Zig is a C compiler that can link for any version of glibc and any
# processor; a native build does without it.
tools_prepare() {
    local wanted=("${wheel_tools[@]}") stamp
    [ "$1" = native ] || wanted+=("$wheel_compiler")
    stamp="$wheel_cache/tools/${wanted[*]}"
    if [ ! -e "$stamp" ]; then
        python3 -m venv "$wheel_cache/tools"
        "$wheel_cache/tools/bin/pip" install -q --disable-pip-version-check "${wanted[@]}"
        touch "$stamp"
    fi
    zig=$(echo "$wheel_cache"/tools/lib/python3*/site-packages/ziglang/zig)
}

# machine ARCH: the processor's name.
machine() {
    [ "$1" = native ] && uname -m || echo "$1"
}

# Debian's sources, from the servers that this machine has its packages from.
sources_fetch() {
    local at=$wheel_cache/source list options
    rm -rf "$at"
    mkdir -p "$at/lists/partial"
    if [ -e /etc/apt/sources.list.d/debian.sources ]; then
        list=$at/debian.sources
        sed 's/^Types:.*/Types: deb-src/' /etc/apt/sources.list.d/debian.sources >"$list"
    else
        list=$at/debian.list
        sed -n 's/^deb /deb-src /p' /etc/apt/sources.list >"$list"
    fi
    options=(-q -o "Dir::Etc::SourceList=$list" -o Dir::Etc::SourceParts=/dev/null -o "Dir::State::Lists=$at/lists")
    apt-get "${options[@]}" update
    (cd "$at" && apt-get "${options[@]}" --download-only source "${wheel_sources[@]}")
    rm -rf "$at/lists"
}

# compiler_prepare ARCH: programs cc, c++, ar, ranlib for this processor in $wheel_cache/ARCH/bin.
compiler_prepare() {
    local bin=$wheel_cache/$1/bin tool
    mkdir -p "$bin"
    if [ "$1" = native ]; then
        printf '#!/bin/sh\nexec gcc -O1 -fPIC "$@"\n' >"$bin/cc"
        printf '#!/bin/sh\nexec g++ -O1 -fPIC "$@"\n' >"$bin/c++"
        ln -sf "$(command -v ar)" "$(command -v ranlib)" "$bin"
        chmod +x "$bin"/c*
        mkdir -p "$wheel_cache/native/lib" # where it is found before the shared one
        ln -sf "$(g++ -print-file-name=libstdc++.a)" "$wheel_cache/native/lib"
        return
    fi
    # It builds the runtime of C++ for each kind of flags that it meets: there shall be one kind, also in probes.
    for tool in cc c++; do
        printf '#!/bin/sh\nexec "%s" %s -target %s-linux-gnu.%s -O2 -fPIC "$@"\n' "$zig" $tool "$1" $wheel_glibc >"$bin/$tool"
    done
    for tool in ar ranlib; do
        printf '#!/bin/sh\nexec "%s" %s "$@"\n' "$zig" $tool >"$bin/$tool"
    done
    chmod +x "$bin"/*
}

# library_cmake NAME [OPTIONS]: builds and installs one whose sources are in $work/NAME.
library_cmake() {
    local name=$1
    shift
    cmake -S "$work/$name" -B "$work/$name/build" -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX="$prefix" \
        -DCMAKE_INSTALL_LIBDIR=lib -DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR="$(machine "$arch")" \
        -DCMAKE_C_COMPILER="$bin/cc" -DCMAKE_CXX_COMPILER="$bin/c++" -DCMAKE_AR="$bin/ar" -DCMAKE_RANLIB="$bin/ranlib" \
        -DCMAKE_C_FLAGS="$hidden" -DCMAKE_CXX_FLAGS="$hidden" -DCMAKE_FIND_ROOT_PATH="$prefix" \
        -DCMAKE_POLICY_VERSION_MINIMUM=3.5 -DBUILD_SHARED_LIBS=OFF "$@"
    cmake --build "$work/$name/build" -j"$(nproc)"
    cmake --install "$work/$name/build"
}

library_libsodium() {
    autoreconf -fi
    ./configure -q --host="$(machine "$arch")-linux-gnu" --prefix="$prefix" --enable-minimal --disable-shared --with-pic \
        --disable-dependency-tracking --disable-ssp CC="$bin/cc" AR="$bin/ar" RANLIB="$bin/ranlib" \
        CFLAGS="-O2 $hidden -DSODIUM_STATIC"
    make -s -j"$(nproc)" install
    cp LICENSE "$prefix/licenses/libsodium"
}

library_jansson() {
    library_cmake jansson -DJANSSON_WITHOUT_TESTS=ON -DJANSSON_BUILD_DOCS=OFF -DJANSSON_EXAMPLES=OFF
    cp LICENSE "$prefix/licenses/jansson"
}

library_msgpack-c() {
    library_cmake msgpack-c -DMSGPACK_ENABLE_SHARED=OFF -DMSGPACK_BUILD_TESTS=OFF -DMSGPACK_BUILD_EXAMPLES=OFF
    cp LICENSE_1_0.txt "$prefix/licenses/msgpack-c"
}

library_libmicrohttpd() {
    ./configure -q --host="$(machine "$arch")-linux-gnu" --prefix="$prefix" --disable-shared --with-pic --disable-dependency-tracking \
        --disable-https --disable-doc --disable-examples --disable-curl --disable-bauth --disable-dauth \
        --disable-postprocessor --disable-httpupgrade CC="$bin/cc" AR="$bin/ar" RANLIB="$bin/ranlib" CFLAGS="-O2 $hidden"
    sed -i 's/visibility("default")/visibility("hidden")/' MHD_config.h # it would show its names in our tool
    make -s -j"$(nproc)" install
    cp COPYING "$prefix/licenses/libmicrohttpd"
}

library_zeromq3() {
    # Its names are hidden, too: they must not meet those of another libzmq in the process.
    sed -i 's/visibility ("default")/visibility ("hidden")/' include/zmq.h
    library_cmake zeromq3 -DBUILD_SHARED=OFF -DBUILD_STATIC=ON -DBUILD_TESTS=OFF -DWITH_PERF_TOOL=OFF -DWITH_DOCS=OFF \
        -DENABLE_CURVE=ON -DWITH_LIBSODIUM=ON -DWITH_LIBSODIUM_STATIC=ON -DENABLE_DRAFTS=OFF -DENABLE_WS=OFF \
        -DWITH_TLS=OFF -DWITH_LIBBSD=OFF -DWITH_NSS=OFF -DWITH_OPENPGM=OFF -DWITH_NORM=OFF -DWITH_VMCI=OFF
    cat COPYING.LESSER COPYING >"$prefix/licenses/libzmq"
}

# What the libraries for a processor are made of.
recipe() {
    echo "$*"
    cat "$top/env/packaging/libraries.sh" "$wheel_cache"/source/*.dsc 2>/dev/null | sha256sum
}

# libraries_are_there ARCH [SOURCE...]: built from these sources as this file says.
libraries_are_there() {
    local arch=$1
    shift
    [ $# -gt 0 ] || set -- "${wheel_sources[@]}"
    [ "$(cat "$wheel_cache/$arch/recipe" 2>/dev/null)" = "$(recipe "$@")" ]
}

# libraries_build ARCH [SOURCE...]: all of them, or some, into $wheel_cache/ARCH.
libraries_build() {
    local arch=$1 prefix=$wheel_cache/$1 work=$wheel_cache/$1/work bin=$wheel_cache/$1/bin name
    local hidden="-w -fvisibility=hidden -g0 -ffile-prefix-map=$work=."
    shift
    [ $# -gt 0 ] || set -- "${wheel_sources[@]}"
    export PKG_CONFIG_LIBDIR=$prefix/lib/pkgconfig
    rm -rf "$work"
    mkdir -p "$work" "$prefix/licenses"
    for name in "$@"; do
        dpkg-source --no-check -q -x "$wheel_cache/source/$name"_*.dsc "$work/$name"
        (cd "$work/$name" && "library_$name")
    done
    rm -rf "$work"
    recipe "$@" >"$prefix/recipe"
}

if [ "${BASH_SOURCE[0]}" = "$0" ]; then
    set -euo pipefail
    top=$(cd "$(dirname "$0")/../.." && pwd)
    tools_prepare "$1"
    sources_fetch
    compiler_prepare "$1"
    libraries_build "$@"
fi
