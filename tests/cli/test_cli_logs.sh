#!/bin/bash
# The command-line tool and episode logs: sim --log and replay.
. "$(dirname "$0")/tool.sh"

# ---- replay

log=log/episodes-000001.tylog
check "sim --log" accepts sim "$game" --agent random --episodes 20 --log log --threads 2
check "replay verify" accepts replay verify $log
check "replay verify counts" grep -q "20 episodes, .* 20 agree" out
check "replay verify --json" accepts replay verify $log --json
check "replay verify --json is JSON" is_json out
python3 "$source/tests/replay/log_tool.py" list $log >described
check "a log read by nothing but its description" test "$(wc -l <described)" -eq 20
check "replay show" accepts replay show $log
check "replay show lists all" test "$(wc -l <out)" -eq 20
check "replay show --json" accepts replay show $log --json
check "replay show --json is JSON lines" is_json_lines out
check "replay show --episode" accepts replay show $log --episode 3
check "replay show --episode --json" accepts replay show $log --episode 3 --json
check "replay show --episode --json is JSON" is_json out
check "replay bisect of a sound log" accepts replay bisect $log
mkdir logs empty
cp $log logs/episodes-000001.tylog
cp $log logs/episodes-000002.tylog
check "replay verify of a directory" accepts replay verify logs
check "replay verify of a directory names every file" test "$(grep -c '20 agree' out)" -eq 2
check "replay verify of a directory --json" accepts replay verify logs --json
check "replay verify of a directory --json is JSON lines" is_json_lines out
python3 "$source/tests/replay/log_tool.py" flip $log 5 17 logs/episodes-000001.tylog
run replay verify logs
check "one bad file of a directory is a failure" test "$status" -eq 1
check "and the other files are verified too" grep -q "000002.*20 agree" out
check "replay verify of an empty directory" refuses 1 "no log" replay verify empty
check "an episode of a directory" refuses 2 "one file" replay show logs --episode 1
for step in 1 17 64 65; do
    python3 "$source/tests/replay/log_tool.py" flip $log 5 $step flipped.tylog
    run replay verify flipped.tylog
    check "verify notices a flipped action" test "$status" -eq 1
    check "verify says at which step" grep -q "^episode 5, .*step $step:" out
    run replay bisect flipped.tylog
    check "bisect notices a flipped action" test "$status" -eq 1
    check "bisect finds the step" grep -q "^episode 5, .*step $step:" out
    check "bisect --json finds the step" test "$("$tool" replay bisect flipped.tylog --json |
        python3 -c 'import json, sys; print(json.load(sys.stdin)["step"])')" = $step
done
head -c -100 $log >torn.tylog
run replay verify torn.tylog
check "torn tail is left out" grep -q "unfinished" err
check "torn tail is no failure" test "$status" -eq 0
check "torn tail: the rest agrees" grep -q "19 agree" out
cp torn.tylog log/episodes-000001.tylog
run sim "$game" --agent random --episodes 2 --seed 50 --log log
check "torn tail is cut off" grep -q "cut off" err
check "and the log goes on" accepts replay verify $log
check "and the log went on" grep -q "21 agree" out
python3 - $log <<'PYTHON'
import sys
data = bytearray(open(sys.argv[1], "rb").read())
data[len(data) // 2] ^= 4
open("hurt.tylog", "wb").write(data)
PYTHON
check "damage is a failure" refuses 1 "damaged" replay verify hurt.tylog
check "damage costs one episode" grep -q "20 agree" out
check "no such episode" refuses 1 "21" replay show $log --episode 21
check "not a log" refuses 1 "not an episode log" replay verify "$tool"
check "no such log" refuses 1 "No such file" replay verify nowhere.tylog
check "unknown kind of replay" refuses 2 "bisect" replay rewind $log
check "log of an own board" accepts sim "$game:$key=./My Box.json" --agent random --episodes 3 --log own
mv "My Box.json" elsewhere.json
check "own board replays from the log alone" accepts replay verify own/episodes-000001.tylog
mv elsewhere.json "My Box.json"
check "log where none can be" refuses 1 "log directory" sim "$game" --episodes 1 --log /proc/none
check "no such episode to verify" refuses 1 "has no episode 99; it has 21" replay verify $log --episode 99
check "no such episode to bisect" refuses 1 "has no episode 99; it has 21" replay bisect $log --episode 99
run replay verify flipped.tylog --json
check "verify --json of a flipped action" test "$status" -eq 1
check "verify --json says where" python3 -c '
import json
(problem,) = json.load(open("out"))["problems"]
assert problem["verdict"] == "diverges" and problem["episode"] == 5 and problem["step"] == 65'
check "show of a flipped action" refuses 1 "episode 5: " replay show flipped.tylog --episode 5
check "show of a flipped action --json" refuses 1 "episode 5: " replay show flipped.tylog --episode 5 --json
check "show of a flipped action has its verdict" grep -q '"verdict":"diverges"' out
check "bisect of a sound log --json" accepts replay bisect $log --json
check "bisect of a sound log says so" grep -qx '{"episodes":21,"verdict":"agrees"}' out
python3 "$source/tests/replay/log_tool.py" age $log 5 99 aged.tylog
run replay verify aged.tylog
check "episode of other rules is a failure" test "$status" -eq 1
check "episode of other rules is refused" grep -qE "^episode 5, seed [0-9]+: refused: .*99" out
run replay verify aged.tylog --json
check "episode of other rules --json" python3 -c '
import json
report = json.load(open("out"))
(problem,) = report["problems"]
assert problem["verdict"] == "refused" and "step" not in problem and report["refused"] == 1'
check "show of other rules" refuses 1 "episode 5: " replay show aged.tylog --episode 5
run replay bisect aged.tylog
check "bisect of other rules" grep -qE "^episode 5, seed [0-9]+: refused: " out
python3 "$source/tests/replay/log_tool.py" void $log 5 17 void.tylog
run replay bisect void.tylog
check "bisect of an action that no game has" grep -qx "the record says, which is not legal:" out
check "the action has no name" grep -qE "^ +17  seat [01] .*  \?$" out
run replay show void.tylog --episode 5
check "show stops where an action is not legal" grep -qE "^ +17  seat [01] .*  \?$" out
check "sim with a chance seat --log" accepts sim "$game:chance=seat" --agent random --episodes 3 --log seat --threads 1
python3 "$source/tests/replay/log_tool.py" void seat/episodes-000001.tylog 0 1 void.tylog
run replay bisect void.tylog
check "bisect where the chance seat acts" grep -qE "^ +1  seat 2  chance " out
(trap "" XFSZ && ulimit -f 1 && "$tool" sim "$game" --agent random --episodes 200 --log small 2>&1 >/dev/null) | cat >err
check "episodes that the disk did not take are counted" grep -qE "^trainyard sim: [0-9]+ episodes are not in the log: log small: File too large" err
(trap "" XFSZ && ulimit -f 0 && "$tool" keygen full 2>&1 >/dev/null) | cat >err
check "keys that the disk did not take" grep -qx "trainyard keygen: full.secret: could not be written" err
run replay show hurt.tylog
check "show of a damaged log is a failure" test "$status" -eq 1
run replay bisect hurt.tylog
check "bisect of a damaged log is a failure" test "$status" -eq 1

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
