#!/usr/bin/env bash
# Installs what is missing, builds Trainyard and lets its expert play Convoi Express.
set -euo pipefail
top=$(cd "$(dirname "$0")/.." && pwd)
cd "$top"
. tests/setup.sh
episodes=${EPISODES:-200}

say "Installing what is missing"
install_debian build-essential cmake pkg-config libjansson-dev libzmq3-dev "$msgpack"
echo "done"

say "Building into build/release"
mkdir -p build
build_in build/release -DCMAKE_BUILD_TYPE=Release -DBUILD_TESTING=OFF
echo "build/release/trainyard is the command-line tool"

say "One decision as an agent sees it"
printf 'q\n' | build/release/trainyard play convoi --seed 1 --seats human,expert | sed -n '1,40p'

say "The expert plays $episodes episodes on the Europe board"
build/release/trainyard sim convoi --agent expert --episodes "$episodes"

say "The expert and random play on the same seeds"
build/release/trainyard arena convoi --agents expert,random --episodes "$episodes"

say "What a decision costs"
build/release/trainyard bench convoi

cat <<'EOF'

Next:
  build/release/trainyard play convoi          play yourself, with the expert
  build/release/trainyard describe convoi      rows, actions and settings
  build/release/trainyard trace convoi         an episode as JSON Lines
EOF
