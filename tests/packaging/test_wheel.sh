#!/usr/bin/env bash
# The wheel, as a stranger gets it: tests/packaging/test_wheel.sh WHEEL [PYTHON...], with each Python from 3.10 on that is
# on this machine, or the given ones. Each plays in a root directory that has the interpreter and the C libraries that
# the interpreter and NumPy need, and nothing else: no compiler, no ZeroMQ, no msgpack-c, no jansson, no package of ours.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
wheel=$(realpath "$1")
shift
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0

fail() {
    echo "$*"
    exit 1
}

# ---- What is in it

[ "$(stat -c %s "$wheel")" -le 3000000 ] || fail "the wheel has $(stat -c %s "$wheel") bytes, more than 3 MB"
case $(basename "$wheel") in
trainyard_env-*-py3-none-manylinux_2_[0-9]*_*.whl) ;;
*) fail "the wheel is called $(basename "$wheel")" ;;
esac
passed=$((passed + 1))

python3 -m zipfile -e "$wheel" "$work/in"
for name in lib/libtrainyard.so bin/trainyard bin/trainyardd; do
    file=$work/in/trainyard/$name
    readelf -d "$file" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' >"$work/needed"
    if grep -vE '^(lib(c|m|dl|rt|pthread)\.so\.[0-9]|ld(64|-linux-[a-z0-9_-]*)\.so\.[0-9])$' "$work/needed"; then
        fail "$name needs more than glibc"
    fi
    # A program also shows how it starts and where its data ends, its copies of glibc's variables, and the operators new
    # and delete, which are made to be replaced.
    nm -D --defined-only "$file" | awk '{print $3}' >"$work/all"
    grep -q '^ty_' "$work/all" || fail "$name exports nothing"
    if grep -vE "^ty_$([ "$name" = lib/libtrainyard.so ] || echo '|^_Z[nd][awl]|^_?(IO_stdin_used|start|main)$|_(start|end|edata|init|fini)$|@GLIBC_')" "$work/all" >"$work/names"; then
        head "$work/names"
        fail "$name exports names that are not of our interface"
    fi
    grep -q "$(dirname "$here")" "$file" && fail "$name has a path of the machine that built it"
    passed=$((passed + 1))
done
# Registers of AVX-512 and AVX2: what is chosen at run time is in it.
if readelf -h "$work/in/trainyard/lib/libtrainyard.so" | grep X86-64 >/dev/null; then
    objdump -d --no-show-raw-insn "$work/in/trainyard/lib/libtrainyard.so" >"$work/code"
    for register in zmm ymm; do
        grep -q "%$register" "$work/code" || fail "the library has no code for processors with $register registers"
    done
    passed=$((passed + 1))
fi
for name in libzmq libsodium jansson msgpack-c libmicrohttpd; do
    [ -s "$work/in/trainyard/licenses/$name" ] || fail "the licence of $name is not in the wheel"
done
passed=$((passed + 1))

# ---- Where nothing else is

# What `ldd` says that a file, or the shared objects below a folder, need.
needed_by() {
    { find "$@" -type f \( -name '*.so' -o -name '*.so.*' -o -perm -u+x \) -exec ldd {} + 2>/dev/null || true; } |
        sed -n 's/.*=> \(\/[^ ]*\) (.*/\1/p; s/^\t\(\/[^ ]*\) (.*/\1/p' | sort -u | grep -v "^$work"
}

# bare_root VENV: makes the directory VENV.root, and VENV.mounts, what has to be seen inside.
bare_root() {
    local venv=$1 root=$1.root library glibc
    local -a own
    mapfile -t own < <("$venv/bin/python" -c "
import os, sys, sysconfig
print(os.path.realpath(sys.executable), sysconfig.get_path('stdlib'), sep='\n')")
    printf '%s\n' "${own[@]}" "$venv" "$here" /dev/null /dev/urandom >"$venv.mounts"
    # Our files are not asked what they need: they have to find it in glibc.
    needed_by "${own[0]}" "${own[1]}/lib-dynload" "$venv"/lib/python3*/site-packages/{numpy,numpy.libs,zmq,pyzmq.libs,msgpack} >"$venv.libraries"
    glibc=$(dirname "$(grep '/libc[.]so[.]6$' "$venv.libraries")")
    ls "$glibc"/lib{c,m,dl,rt,pthread,util}.so.[0-9] >>"$venv.libraries"
    while read -r library; do
        mkdir -p "$root$(dirname "$library")"
        cp -L "$library" "$root$library"
    done <"$venv.libraries"
    mkdir -p "$root"/{proc,tmp,dev}
}

# bare VENV COMMAND...: inside that root, without a variable of this one.
bare() {
    local venv=$1
    shift
    unshare --mount $([ "$(id -u)" -eq 0 ] || echo --map-root-user) bash -euc '
        root=$1.root
        mount --rbind /proc "$root/proc"
        mount -t tmpfs none "$root/tmp"
        while read -r place; do
            mkdir -p "$root$(dirname "$place")"
            if [ -d "$place" ]; then mkdir -p "$root$place"; else touch "$root$place"; fi
            mount --bind "$place" "$root$place"
        done <"$1.mounts"
        exec env -i PATH="$1/bin" HOME=/tmp "$(command -v chroot)" "$root" "${@:2}"' bare "$venv" "$@"
}

# Every Python from 3.10 on at hand, one of each version.
pythons() {
    local python
    for python in python3 {/usr,/usr/local}/bin/python3.[1-9][0-9] "$HOME"/.pyenv/versions/3.[1-9][0-9].*/bin/python; do
        "$python" -c 'import ensurepip, sys; v = sys.version_info; v < (3, 10) or print(v[1], sys.executable)' 2>/dev/null || true
    done | sort -n -u -k1,1 | cut -d' ' -f2
}

if [ $# -eq 0 ]; then
    mapfile -t found < <(pythons)
    set -- "${found[@]}"
fi
for python in "$@"; do
    name=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
    "$python" -m venv --copies "$work/$name"
    "$work/$name/bin/python" -m pip install -q --disable-pip-version-check "$wheel" 2>"$work/pip" || fail "$(cat "$work/pip")"
    bare_root "$work/$name"
    bare "$work/$name" "$work/$name/bin/python" "$here/bare.py"
    echo "Python $name: plays in a bare environment"
    passed=$((passed + 1))
done
echo "$passed passed, 0 failed"
