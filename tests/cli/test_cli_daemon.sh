#!/bin/bash
# The command-line tool among processes: a daemon with its agents, a terminal.
. "$(dirname "$0")/tool.sh"

# ---- A daemon: keygen, stats, agent, open seats. tests/cli/test_examples.sh plays through it.

check "keygen" accepts keygen me
check "keygen writes both" eval 'grep -q "^secret " me.secret && grep -q "^public " me.pub'
check "keygen overwrites nothing" refuses 1 "me.secret: File exists" keygen me
rm me.secret
check "keygen overwrites no public key either" refuses 1 "me.pub: File exists" keygen me
check "keygen of a long name" refuses 2 "NAME has 1020 characters; allowed are up to 1016" keygen "$(printf 'a%.0s' {1..1020})"
check "keys without the daemon's" refuses 2 "--keys and --server-key belong together" stats --keys me.secret
check "the daemon's key without keys" refuses 2 "--keys and --server-key belong together" stats --server-key me.pub
check "missing server key" refuses 1 "none.pub: No such file" stats --keys me.secret --server-key none.pub
check "missing own keys" refuses 1 "none.secret: No such file" stats --keys none.secret --server-key me.pub
check "file without a secret" refuses 1 "me.pub: has no line 'secret KEY'; 'trainyard keygen' writes them" \
    stats --keys me.pub --server-key me.pub
check "missing token" refuses 1 "none.token: No such file" stats --token none.token
check "agent without a pool" refuses 2 "--pool and --invite are needed" agent random --invite x
check "agent without an invitation" refuses 2 "--pool and --invite are needed" agent random --pool 1
check "agent with an unknown ruleset" refuses 2 "unknown game 'chess'" agent random --pool 1 --invite x --ruleset chess

mkdir -m 700 run
endpoint="ipc://$work/run/trainyardd"
"$(dirname "$tool")/trainyardd" --listen "$endpoint" >daemon.txt 2>&1 &
daemon=$!
until grep -qs ready daemon.txt || ! kill -0 $daemon 2>/dev/null; do sleep 0.05; done
echo secret >token
check "stats" accepts stats --connect "$endpoint"
check "stats are those of the daemon" grep -qE "^up [0-9.]+ s, 1 sessions, [0-9]+ decisions" out
check "stats --json" accepts stats --connect "$endpoint" --token token --json
check "stats --json is JSON" is_json out
check "stats --live ends with its reader" eval \
    '(trap "" PIPE; ! "$tool" stats --live --connect "$endpoint" 2>err) | head -n 2 | grep -q " decisions/s, "'
check "no such pool" refuses 1 "pool" agent random --connect "$endpoint" --pool 77 --invite 0123456789abcdef
check "open seats keep their log on the daemon" refuses 1 "--log: with open seats the daemon keeps the log" \
    sim express --agents random,open --episodes 1 --connect "$endpoint" --log open
check "command too long to start" refuses 1 "--start: the command is longer than 4096 characters" \
    sim express --agents random,open --episodes 1 --connect "$endpoint" --start "$(printf 'a%.0s' {1..5000})"
"$tool" sim express:map=tiny --agents random,open --episodes 3 --connect "$endpoint" >played 2>said &
sim=$!
until grep -qs -- --invite said || ! kill -0 $sim 2>/dev/null; do sleep 0.05; done
read -ra seat <<<"$(grep -oE -- '--pool .*' said)"
invited=(--connect "$endpoint" "${seat[@]:0:4}")
check "small seeds are warned of" grep -q "can find the seeds by trying" said
check "stats tell nobody of others' pools" accepts stats --connect "$endpoint"
check "stats count the session that plays" grep -qE "^up [0-9.]+ s, [2-9] sessions, " out
check "stats name no ruleset" eval '! grep -q express out'
for seats in 1x 9 x 1,,0 1,1,1,1,1,1 ,; do
    check "seats '$seats'" refuses 1 "--seats: '$seats' is not a list of seats such as 0,2" agent random "${invited[@]}" --seats "$seats"
done
check "agent that does not play the game" refuses 1 "'nobody' does not play express; there are random, expert, search, net" agent nobody "${invited[@]}" --seats 1
wait $sim
check "a seat that was left ends the run" grep -q "the player of seat 1 is gone" said
kill -TERM $daemon
check "the daemon ends" wait $daemon

# ---- Progress: on a terminal only (in a pipe `accepts` has seen that stderr stays empty)

check "progress on a terminal" python3 - "$tool" "$game" <<'PYTHON'
import os, pty, subprocess, sys
terminal, other = pty.openpty()
command = [sys.argv[1], "sim", sys.argv[2], "--agent", "random", "--episodes", "2000"]
result = subprocess.run(command, stdout=subprocess.PIPE, stderr=other)
seen = os.read(terminal, 65536)
assert result.returncode == 0 and b"episodes [" in seen and b"ruleset:" in result.stdout
PYTHON

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
