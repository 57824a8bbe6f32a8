#!/usr/bin/env bash
# The Debian package: installed, used and purged, with nothing left: tests/packaging/test_deb.sh [DEB], built first if it
# is not given. Needs root, and refuses to touch a trainyard that is installed already.
set -euo pipefail
top=$(cd "$(dirname "$0")/../.." && pwd)
. "$top/tests/setup.sh"
deb=${1:+$(realpath "$1")}
work=$(mktemp -d)
passed=0
clean() {
    dpkg --purge trainyard >/dev/null 2>&1 || true
    $stranger || userdel trainyard 2>/dev/null || true # whom the package leaves, as Debian's packages do
    rm -rf "$work"
}
if dpkg-query -W trainyard >/dev/null 2>&1; then
    echo "the package trainyard is installed already"
    exit 1
fi
getent passwd trainyard >/dev/null && stranger=true || stranger=false
trap clean EXIT

# Whatever is called as we are, where packages put things.
ours() {
    find /etc /usr /var/lib /run -xdev -name '*trainyard*' | sort
}

if [ -z "$deb" ]; then
    "$top/env/packaging/deb.sh" "$work"
    deb=$(echo "$work"/trainyard_*.deb)
fi
install_debian gcc libc6-dev pkg-config libjansson-dev
ours >"$work/before"
dpkg --install "$deb"
passed=$((passed + 1))

cd /
trainyard --version | grep '^trainyard [0-9]'
trainyardd --version | grep '^trainyardd [0-9]'
trainyard sim express --episodes 10 >"$work/said"
passed=$((passed + 1))

# A page for each command, written from its help.
dpkg -L trainyard >"$work/files"
for page in trainyard trainyardd $(trainyard --help | sed -n '/^commands:/,/^[^ ]/s/^  \([a-z]*\) .*/trainyard-\1/p'); do
    grep -q "/$page[.][18][.]gz$" "$work/files" || { echo "no page $page"; exit 1; }
done
zcat /usr/share/man/man1/trainyard-sim.1.gz >"$work/page"
grep -q 'episodes' "$work/page"
passed=$((passed + 1))

# Headers and libraries, for a program of one's own.
cc -std=c17 "$top/examples/episode.c" $(pkg-config --cflags --libs trainyard) -o "$work/episode"
"$work/episode" 7 | grep delivered
passed=$((passed + 1))

# The unit starts what is installed, and is not enabled.
unit=$(grep '/trainyardd[.]service$' "$work/files") || { echo "no unit"; exit 1; }
program=$(sed -n 's/^ExecStart=\([^ ]*\).*/\1/p' "$unit")
[ -x "$program" ] || { echo "$unit starts $program"; exit 1; }
[ ! -e /etc/systemd/system/multi-user.target.wants/trainyardd.service ]
passed=$((passed + 1))

dpkg --purge trainyard
ours >"$work/after"
if comm -13 "$work/before" "$work/after" | grep .; then
    echo "is left behind"
    exit 1
fi
passed=$((passed + 1))
echo "$passed passed, 0 failed"
