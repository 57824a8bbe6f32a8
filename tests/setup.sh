# Sourced by tests/run.sh and examples/quickstart.sh: finds out what is missing and installs it.
# Needs root for Debian's packages only if one of them is missing.

say() { printf '\n\033[1m== %s\033[0m\n' "$*"; }

# Installs those of the given Debian packages that are not there.
install_debian() {
    local missing=()
    for package in "$@"; do
        dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'install ok installed' ||
            missing+=("$package")
    done
    if [ ${#missing[@]} -eq 0 ]; then
        return
    fi
    if [ "$(id -u)" -ne 0 ]; then
        echo "These Debian packages are missing: ${missing[*]}. Install them, or run this as root." >&2
        exit 1
    fi
    echo "Installing Debian packages: ${missing[*]}"
    export DEBIAN_FRONTEND=noninteractive
    apt-get update -qq
    apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
}

# msgpack-c changed its name in Debian 13.
msgpack_package() {
    if apt-cache show libmsgpack-c-dev 2>/dev/null | grep -q '^Package:'; then
        echo libmsgpack-c-dev
    else
        echo libmsgpack-dev
    fi
}

# Configures and builds a directory: build_in DIR [CMake options].
build_in() {
    local dir=$1
    shift
    cmake -S "$top" -B "$dir" "$@" >"$dir.log" 2>&1 && cmake --build "$dir" -j"$(nproc)" >>"$dir.log" 2>&1 || {
        cat "$dir.log"
        echo "The build in $dir failed." >&2
        exit 1
    }
}
