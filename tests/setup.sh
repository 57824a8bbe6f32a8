# Sourced by tests/run.sh and examples/quickstart.sh: finds out what is missing and installs it.
# Needs root for Debian's packages only if one of them is missing.

say() {
    if [ -t 1 ]; then
        printf '\n\033[1m== %s\033[0m\n' "$*"
    else
        printf '\n== %s\n' "$*"
    fi
}

# True if one of the packages of "a|b" is installed.
package_is_there() {
    local name
    for name in ${1//|/ }; do
        if [ "$(dpkg-query -W -f '${Status}' "$name" 2>/dev/null)" = 'install ok installed' ]; then
            return 0
        fi
    done
    return 1
}

# The first package of "a|b" that this Debian has.
package_choose() {
    local name
    for name in ${1//|/ }; do
        if [ -n "$(apt-cache show "$name" 2>/dev/null)" ]; then
            echo "$name"
            return
        fi
    done
    echo "${1%%|*}"
}

# Installs those of the given Debian packages that are not there; "a|b" means either.
install_debian() {
    local missing=() package
    for package in "$@"; do
        package_is_there "$package" || missing+=("$package")
    done
    if [ ${#missing[@]} -eq 0 ]; then
        return
    fi
    if [ "$(id -u)" -ne 0 ]; then
        echo "These Debian packages are missing: ${missing[*]}. Install them, or run this as root." >&2
        exit 1
    fi
    export DEBIAN_FRONTEND=noninteractive
    apt-get update -qq
    local chosen=()
    for package in "${missing[@]}"; do
        chosen+=("$(package_choose "$package")")
    done
    echo "Installing Debian packages: ${chosen[*]}"
    apt-get install -y -qq --no-install-recommends "${chosen[@]}" >/dev/null
}

# msgpack-c has another name from Debian 13 on.
msgpack='libmsgpack-c-dev|libmsgpack-dev'

# Configures and builds a directory: build_in DIR [CMake options]. With as many processes as $jobs, or else processors.
build_in() {
    local dir=$1
    shift
    cmake -S "$top" -B "$dir" "$@" >"$dir.log" 2>&1 && cmake --build "$dir" -j"${jobs:-$(nproc)}" >>"$dir.log" 2>&1 || {
        cat "$dir.log"
        echo "The build in $dir failed." >&2
        exit 1
    }
}
