#!/usr/bin/env bash
# Builds the Debian package of tool, daemon, libraries, headers, manual pages and systemd unit: env/packaging/deb.sh OUTDIR.
set -euo pipefail
top=$(cd "$(dirname "$0")/../.." && pwd)
. "$top/tests/setup.sh"
if [ $# -ne 1 ] || [ "${1#-}" != "$1" ]; then
    sed -n '2s/^# //p' "$0"
    exit 2
fi
mkdir -p "$1"
out=$(cd "$1" && pwd)
install_debian build-essential dpkg-dev debhelper help2man cmake pkg-config libjansson-dev libzmq3-dev "$msgpack" libmicrohttpd-dev

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
version=$(sed -n 's/^project(trainyard VERSION \([0-9.]*\).*/\1/p' "$top/CMakeLists.txt")
source=$work/trainyard-$version
mkdir "$source"
(cd "$top" && git ls-files -z --cached --others --exclude-standard | xargs -0 cp -P --parents -t "$source")
mv "$source/env/packaging/debian" "$source/debian"
cp "$source/env/daemon/trainyardd.service" "$source/debian/trainyard.trainyardd.service"
cp "$source/env/daemon/trainyard.sysusers" "$source/debian/trainyard.sysusers"
cat >"$source/debian/changelog" <<END
trainyard ($version) unstable; urgency=medium

  * CHANGELOG.md has what changed.

 -- The Trainyard authors <trainyard@localhost>  $(date -R -d "@${SOURCE_DATE_EPOCH:-$(git -C "$top" log -1 --format=%ct)}")
END
export DEB_BUILD_OPTIONS="noautodbgsym parallel=$(nproc)"
(cd "$source" && dpkg-buildpackage -b -us -uc) >"$work/log" 2>&1 || {
    tail -n 40 "$work/log"
    exit 1
}
cp "$work"/trainyard_*.deb "$out"
ls -l "$out"/trainyard_*.deb
