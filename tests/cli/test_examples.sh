#!/usr/bin/env bash
# Every example against a real daemon, with its output checked; and agents of one's own in sim and arena, with the
# same numbers as in process.
#
#   tests/cli/test_examples.sh BUILD_DIRECTORY PYTHON      (a Python with numpy, pyzmq and msgpack)
set -u
build=$(cd "$1" && pwd)
python=$2
top=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
endpoint=ipc://$work/run/trainyardd
daemon=
passed=0
failed=0

finish() {
    if [ -n "$daemon" ]; then
        kill -TERM "$daemon" 2>/dev/null
        wait "$daemon"
    fi
    rm -rf "$work"
}
trap finish EXIT

good() { passed=$((passed + 1)); }
bad() {
    echo "FAILED: $1"
    failed=$((failed + 1))
}

# prints NAME PATTERN COMMAND...: it succeeds, and every line of PATTERN is found in what it prints.
prints() {
    local name=$1 pattern=$2 line
    shift 2
    if ! "$@" >"$work/out" 2>"$work/err"; then
        bad "$name: status $?"
        cat "$work/out" "$work/err"
        return
    fi
    while IFS= read -r line; do
        if ! grep -qE -- "$line" "$work/out"; then
            bad "$name: does not print '$line'"
            cat "$work/out" "$work/err"
            return
        fi
    done <<<"$pattern"
    good
}

# refuses NAME PATTERN COMMAND...: it fails with a sentence.
refuses() {
    local name=$1 pattern=$2
    shift 2
    if "$@" >"$work/out" 2>"$work/err"; then
        bad "$name: was not refused"
    elif ! grep -qE -- "$pattern" "$work/err"; then
        bad "$name: says something else"
        cat "$work/err"
    else
        good
    fi
}

# same NAME FILE FILE
same() {
    if diff "$2" "$3"; then
        good
    else
        bad "$1"
    fi
}

mkdir -m 700 "$work/run"
"$build/trainyardd" --listen "$endpoint" --log "$work/log" >"$work/daemon.txt" 2>&1 &
daemon=$!
until grep -qs ready "$work/daemon.txt"; do
    if ! kill -0 "$daemon" 2>/dev/null; then
        cat "$work/daemon.txt"
        exit 1
    fi
    sleep 0.05
done

# ---- The examples

# Half a minute passes before the client gives up: meanwhile the others run.
"$build/examples/zmq_client" "ipc://$work/run/nobody" >"$work/nobody.out" 2>"$work/nobody.err" &
nobody=$!

prints "episode.c" '^seed 7: (won|lost), [0-9]+ goods delivered in [0-9]+ turns' "$build/examples/episode" 7
prints "zmq_client.c" '^over ZeroMQ: [0-9]+ decisions, 10[0-9]{2} episodes' "$build/examples/zmq_client" "$endpoint"
prints "shm_client.c" '^through shared memory: [0-9]+ decisions, 20[0-9]{3} episodes' \
    "$build/examples/shm_client" "$endpoint"
prints "zmq_client.py" '^plain Python: 3[0-9]{2} episodes, mean return -[01]\.' "$python" "$top/examples/zmq_client.py" "$endpoint"
prints "two_clients.py" 'director \(seat 0\): [a-z]
guest \(seat 1\): [a-z]
director is told of the end: reward [+-]1
guest is told of the end: reward [+-]1' "$python" "$top/examples/two_clients.py" "$endpoint"
prints "plan.py" '^seat [01]: [a-z. /]+ \([+-][01]\.[0-9]{2}, of [0-9]+ actions\)$' "$python" "$top/examples/plan.py" "$endpoint"
prints "ladders.py" "^\\| express, rating \\| -[0-9]+ \\[.*\\] \\|$" \
    "$python" "$top/examples/ladders.py" --tool "$build/trainyard" --quick --games express --to "$work/ladders"
"$python" "$top/examples/ladders.py" --tool "$build/trainyard" --show >"$work/ladders.md" 2>&1
same "README's table of agents is what the ladders say" "$work/ladders.md" <(sed -n '/made by examples.ladders.py/,/until here/p' "$top/README.md" | grep '^|')
prints "replay.sh" '^# Play them again
10 episodes
episode 3' bash "$top/examples/replay.sh" "$build"

# ---- Agents of one's own

arena=("$build/trainyard" arena)
prints "own_agent.c beats random" 'random +0\.[0-3]' \
    "${arena[@]}" express --agents random,open --episodes 20 --connect "$endpoint" --start "$build/examples/own_agent"
cp "$work/out" "$work/own-c"
prints "own_agent.py plays alike" 'random +0\.[0-3]' \
    "${arena[@]}" express --agents "random,$endpoint" --episodes 20 --start "$python $top/examples/own_agent.py --connect $endpoint"
same "the same agent in C and in Python" "$work/own-c" "$work/out"

# The expert from outside gives the numbers that it gives in process: in every game, in every seat.
for spec in $("$top/tests/support/small_rulesets.sh" "$build") "convoi:board=$top/tests/data/convoi_yard.json"; do
    agent="$build/trainyard agent expert --ruleset $spec"
    "${arena[@]}" "$spec" --agents expert,random --episodes 30 --seed 5 >"$work/here" 2>"$work/err"
    "${arena[@]}" "$spec" --agents open,random --episodes 30 --seed 5 --connect "$endpoint" --start "$agent" \
        >"$work/there" 2>>"$work/err" || cat "$work/err"
    sed -i -e 's/difference to expert/difference to open/' -e 's/^  expert/  open  /' "$work/here"
    same "arena $spec: the expert from outside" "$work/here" "$work/there"
done
"$build/trainyard" sim express --agents random,expert --episodes 30 >"$work/here"
"$build/trainyard" sim express --agents random,open --episodes 30 --connect "$endpoint" --start "$build/trainyard agent expert" \
    >"$work/there" 2>"$work/err"
same "sim: the expert from outside" <(grep -vE 'agents:|speed:' "$work/here") <(grep -vE 'agents:|speed:' "$work/there")

# Started by hand: the tool says what to run.
"$build/trainyard" sim express --agents random,open --episodes 5 --connect "$endpoint" >"$work/there" 2>"$work/said" &
sim=$!
until grep -qs -- '--invite' "$work/said"; do
    kill -0 "$sim" 2>/dev/null || break
    sleep 0.05
done
line=$(grep -- '--invite' "$work/said")
eval "${line/trainyard agent NAME/\"$build/trainyard\" agent random}" >"$work/out" 2>&1
if wait "$sim" && grep -q 'episodes: 5,' "$work/there"; then
    good
else
    bad "an agent that is started by hand"
    cat "$work/said" "$work/out"
fi

refuses "a program that does not join" 'the program ended before the episodes, with status 1' \
    "${arena[@]}" express --agents random,open --episodes 2 --connect "$endpoint" --start false
refuses "own_agent.c without an invitation" 'claimer: --pool and --invite are needed' "$build/examples/own_agent" --pool 1
refuses "own_agent.c with a wrong pool" "claimer: --pool: 'one' is not the number of a pool" \
    "$build/examples/own_agent" --pool one --invite x
refuses "own_agent.c with wrong seats" "claimer: --seats: '0;1' is not a list of seats such as 0,2" \
    "$build/examples/own_agent" --pool 1 --invite x --seats '0;1'
refuses "own_agent.c with an unknown argument" "claimer: unknown argument '--seat'; allowed are --connect ENDPOINT" \
    "$build/examples/own_agent" --seat 1
refuses "own_agent.c with half an argument" 'claimer: --pool needs a value' "$build/examples/own_agent" --pool
refuses "a planning agent from outside" "agent 'search' plans with states, which stay in the daemon" \
    "${arena[@]}" express --agents random,open --episodes 2 --connect "$endpoint" --start "$build/trainyard agent search"
refuses "no daemon" 'trainyard arena: ' "${arena[@]}" express --agents "random,ipc://$work/run/nobody" --episodes 2 --start true

# An agent that dies in the middle is not counted as a loser.
cat >"$work/dies.sh" <<END
timeout -s KILL 2 "$build/trainyard" agent random "\$@"
END
refuses "a program that dies" 'is gone|ended before' "${arena[@]}" chicago --agents random,open --episodes 100000 --connect "$endpoint" \
    --start "bash $work/dies.sh"

# The search agent sits in the daemon, beside one from outside.
prints "search in a pool" 'search +1\.0000' \
    "${arena[@]}" express:map=tiny --agents search,open --episodes 2 --connect "$endpoint" --start "$build/trainyard agent random"

# ---- What is left

without_a_daemon() {
    wait "$nobody"
    local status=$?
    cat "$work/nobody.err" >&2
    return $status
}
refuses "zmq_client.c without a daemon" 'zmq_client: no daemon answers there' without_a_daemon
for log in "$work"/log/*.tylog; do
    prints "the daemon's log" 'episodes' "$build/trainyard" replay verify "$log"
done
kill -TERM "$daemon"
if wait "$daemon" && [ -z "$(ls -A "$work/run")" ]; then
    good
else
    bad "the daemon does not stop cleanly"
    ls -la "$work/run"
fi
daemon=

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
