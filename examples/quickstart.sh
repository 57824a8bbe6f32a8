#!/usr/bin/env bash
# Installs what is missing, builds Trainyard, starts the daemon, lets agents play through shared memory and through
# ZeroMQ at once, verifies every episode that was logged, and stops the daemon. Then an agent learns, from Python.
# Can be run again at any time.
#
#   examples/quickstart.sh        EPISODES=200 is how many each agent plays, MINUTES=2 for how long one learns
set -euo pipefail
top=$(cd "$(dirname "$0")/.." && pwd)
cd "$top"
. tests/setup.sh
episodes=${EPISODES:-200}
minutes=${MINUTES:-2}
bin=build/release

say "Installing what is missing"
install_debian build-essential cmake pkg-config python3 python3-venv libjansson-dev libzmq3-dev "$msgpack" libmicrohttpd-dev
echo "done"

say "Building into $bin"
mkdir -p build
build_in "$bin" -DCMAKE_BUILD_TYPE=Release -DBUILD_TESTING=OFF
echo "$bin/trainyard is the command-line tool, $bin/trainyardd the daemon"

say "One decision as an agent sees it"
printf 'q\n' | "$bin/trainyard" play convoi --seed 1 --seats human,expert >build/play.txt
sed -n '1,24p' build/play.txt

say "The expert and random play $episodes episodes each on the same seeds"
"$bin/trainyard" arena convoi --agents expert,random --episodes "$episodes" >build/arena.txt
sed -n '1,7p' build/arena.txt

say "Starting the daemon in a private directory"
work=$(mktemp -d) # of mode 0700
endpoint=ipc://$work/trainyardd
daemon=
stop() {
    if [ -n "$daemon" ]; then
        kill -TERM "$daemon" 2>/dev/null || true
        wait "$daemon" || true
    fi
    rm -rf "$work"
}
trap stop EXIT
"$bin/trainyardd" --listen "$endpoint" --log "$work/log" >"$work/daemon.txt" 2>&1 &
daemon=$!
while ! grep -qs ready "$work/daemon.txt"; do
    kill -0 "$daemon" || { cat "$work/daemon.txt"; exit 1; }
    sleep 0.1
done
cat "$work/daemon.txt"

say "Agents play through shared memory and over ZeroMQ at once"
"$bin/examples/shm_client" "$endpoint" >"$work/shm.txt" &
shm=$!
"$bin/examples/zmq_client" "$endpoint" >"$work/zmq.txt" &
zmq=$!
while kill -0 "$shm" 2>/dev/null || kill -0 "$zmq" 2>/dev/null; do
    "$bin/trainyard" stats --connect "$endpoint"
    sleep 0.2
done
wait "$shm"
wait "$zmq"
cat "$work/shm.txt" "$work/zmq.txt"

say "A program of one's own enters the arena: examples/own_agent.c"
"$bin/trainyard" arena express --agents random,open --episodes "$episodes" --connect "$endpoint" \
    --start "$bin/examples/own_agent"

say "Playing every logged episode again"
for log in "$work"/log/*.tylog; do
    "$bin/trainyard" replay verify "$log"
done

say "A replay to open in a browser: one file, no server"
set -- "$work"/log/*.tylog
"$bin/trainyard" view "$1" -o build/replay.html

say "Stopping the daemon"
kill -TERM "$daemon"
wait "$daemon"
daemon=
rm -r "$work/log"
rm "$work"/*.txt
echo "it ended with status 0, and left in its directory: $(find "$work" -mindepth 1 | wc -l) files"

say "Installing the Python package into build/venv"
venv=build/venv
[ -x "$venv/bin/pip" ] || python3 -m venv "$venv"
"$venv/bin/pip" install -q --disable-pip-version-check . matplotlib >build/pip.txt 2>&1 || { cat build/pip.txt; exit 1; }
"$venv/bin/python" -c 'import trainyard; print(trainyard.make("convoi", num_envs=1024))'

say "An agent learns on the tiny board for $minutes minutes: NumPy only, through shared memory"
"$venv/bin/python" examples/learn_small.py --minutes "$minutes" --plot build/learn_small.png

cat <<END

Next:
  build/replay.html                   an episode of the daemon's log: open it in a browser
  $bin/trainyard play convoi          play yourself, with the expert
  $bin/trainyard describe convoi      rows, actions and settings
  examples/tour.md                    the Python package, step by step
  examples/README.md                  what to copy: clients in C and Python, agents, search, replays
  examples/RESULTS.md                 what a network learns in an hour
END
