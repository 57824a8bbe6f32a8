#!/bin/bash
# Tests the command-line tool through its front door: tests/test_cli.sh BUILD_DIRECTORY
set -u

tool="$(cd "${1:?usage: test_cli.sh BUILD_DIRECTORY}" && pwd)/trainyard"
source="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
passed=0
failed=0

# check NAME COMMAND...: the command succeeds.
check() {
    local name="$1"
    shift
    if "$@"; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAILED: $name"
    fi
}

# run ARGUMENTS...: runs the tool; the answers are in the files out and err and in $status.
run() {
    "$tool" "$@" >out 2>err </dev/null
    status=$?
}

# refuses STATUS WORD ARGUMENTS...: exit status, and WORD in the message on stderr.
refuses() {
    local wanted="$1" word="$2"
    shift 2
    run "$@"
    [ "$status" -eq "$wanted" ] && grep -qF -- "$word" err
}

# accepts ARGUMENTS...: exit status 0 and nothing on stderr.
accepts() {
    run "$@"
    [ "$status" -eq 0 ] && [ ! -s err ]
}

is_json() {
    python3 -c 'import json, sys; json.load(open(sys.argv[1]))' "$1"
}

is_json_lines() {
    python3 -c 'import json, sys; [json.loads(line) for line in open(sys.argv[1])]' "$1"
}

# same_results FILE FILE: equal but for what depends on the clock and the threads.
same_results() {
    python3 - "$@" <<'PYTHON'
import json, sys
def load(path):
    result = json.load(open(path))
    for key in ("threads", "seconds", "decisions_per_s"):
        result.pop(key)
    return result
sys.exit(load(sys.argv[1]) != load(sys.argv[2]))
PYTHON
}

# ---- Help

check "version" accepts --version
check "help" accepts --help
check "help lists the commands" grep -q arena out
check "no command is an error that lists them" refuses 2 "arena"
check "unknown command is an error that lists them" refuses 2 "arena" fly
check "-h" accepts -h
check "help as a command" accepts help
check "help of a command by -h" accepts sim -h
for command in play sim arena trace replay describe board bench keygen stats agent; do
    check "$command --help" accepts "$command" --help
    check "$command --help has an example" grep -q "^  trainyard $command" out
done

# ---- Bad arguments: status 2, and what is allowed

game="$("$tool" describe --json | python3 -c \
    'import json, sys; print(json.load(sys.stdin)["games"][0]["game"])')"
check "unknown option" refuses 2 "--episodes" sim "$game" --fly
check "missing value" refuses 2 "--episodes N" sim "$game" --episodes
check "number out of range" refuses 2 "1 to 1000000" sim "$game" --episodes 0
check "number that is none" refuses 2 "'many'" sim "$game" --episodes many
check "negative seed" refuses 2 "'-1'" sim "$game" --seed -1
check "seconds" refuses 2 "3600" bench "$game" --seconds 0
check "value of a flag" refuses 2 "--json" sim "$game" --json=1
check "missing ruleset" refuses 2 "RULESET" sim
check "argument too many" refuses 2 "'more'" sim "$game" more
check "unknown game" refuses 2 "$game" sim chess
check "unknown key" refuses 2 "players" sim "$game:colour=red"
check "value out of range" refuses 2 "2..4" sim "$game:players=9"
check "unknown agent" refuses 2 "random" sim "$game" --agent nobody
check "too few agents" refuses 2 "2 wanted" sim "$game" --agents random
check "agent and agents" refuses 2 "exclude" sim "$game" --agent random --agents random,random
check "arena without agents" refuses 2 "--agents" arena "$game"
check "arena with one agent" refuses 2 "at least 2" arena "$game" --agents random
check "trace without ruleset" refuses 2 "RULESET" trace
check "unknown board action" refuses 2 "check" board paint x.json
check "person in a simulation" refuses 2 "random" sim "$game" --agent human
check "number with a tail" refuses 2 "--episodes: '12x' is not a whole number from 1 to 1000000" \
    sim "$game" --episodes 12x
check "number beyond 64 bits" refuses 2 "--seed: '99999999999999999999' is not a whole number" \
    sim "$game" --seed 99999999999999999999
check "number above the range" refuses 2 "--threads: '257' is not a whole number from 1 to 256" sim "$game" --threads 257
check "value behind an equals sign" accepts sim "$game" --agent=random --episodes=2 --threads=1
for seconds in ten 1.2.3 . 3601 ""; do
    check "seconds '$seconds'" refuses 2 "--seconds: '$seconds' is not a number above 0 and up to 3600" \
        bench "$game" --seconds "$seconds"
done
check "short option" refuses 2 "unknown option '-x'; allowed: --agent, --agents, --episodes" sim "$game" -x
check "what follows -- is no option" refuses 2 "ruleset '--json'" sim -- --json
check "a dash is an argument" refuses 2 "ruleset '-'" sim -
check "--help behind -- is no option" refuses 2 "unexpected argument '--help'" sim -- "$game" --help
# shellcheck disable=SC2046 # 65 words
check "more arguments than any command takes" refuses 2 "more than 64 arguments" board check $(seq 64)
check "more names than any table has" refuses 2 "--agents: more than 64 names" \
    arena "$game" --agents "$(printf 'random,%.0s' {1..64})random"
check "arena of an unknown game" refuses 2 "unknown game 'chess'" arena chess --agents random,random
check "arena with an unknown agent" refuses 2 "--agents: 'nobody' does not play $game; allowed: open, random" \
    arena "$game" --agents random,nobody
check "arena with too many agents" refuses 2 "--agents: 3 given, at most 2 fit at the table of express" \
    arena express --agents random,random,random
check "two agents in one option" refuses 2 "--agent: 2 given, 1 wanted" sim "$game" --agent random,random
check "two daemons" refuses 2 "--agents: 'ipc://b' does not play" sim "$game" --agents ipc://a,ipc://b
check "play of an unknown game" refuses 2 "unknown game 'chess'" play chess
check "play with an unknown agent" refuses 2 "--seats: 'nobody' does not play $game; allowed: human, random" \
    play "$game" --seats human,nobody
check "trace of an unknown game" refuses 2 "unknown game 'chess'" trace chess
check "trace with an unknown agent" refuses 2 "--agent: 'nobody'" trace "$game" --agent nobody
check "bench of an unknown game" refuses 2 "unknown game 'chess'" bench express chess --seconds 0.01
check "description of an unknown game" refuses 2 "unknown game 'chess'" describe chess
check "output that cannot be written" eval '! "$tool" describe >/dev/full 2>err && grep -q "standard output: No space" err'
check "long output that cannot be written" eval '! "$tool" describe nordic --json >/dev/full 2>err && grep -q "standard output" err'

# ---- describe

check "describe lists games" accepts describe
check "describe lists keys" grep -q players out
check "describe explains a ruleset" accepts describe "$game"
check "describe shows action 0" grep -q "0  wait" out
check "describe --json" accepts describe --json
check "describe --json is JSON" is_json out
check "the README and the changelog name every game" python3 - out "$source" <<'PYTHON'
import json, pathlib, sys
games = [game["game"] for game in json.load(open(sys.argv[1]))["games"]]
assert games
for document in ("README.md", "CHANGELOG.md"):
    text = (pathlib.Path(sys.argv[2]) / document).read_text(encoding="utf-8")
    assert all(f"`{game}`" in text for game in games), document
assert all((pathlib.Path(sys.argv[2]) / "env/games" / game / "RULES.md").is_file() for game in games)
PYTHON
check "describe RULESET --json" accepts describe "$game" --json
check "describe RULESET --json is JSON" is_json out
cp out description.json
check "the description agrees with itself" python3 - <<'PYTHON'
import json
d = json.load(open("description.json"))
assert len(d["actions"]) == d["action_count"] == d["mask_size"] == len(set(d["actions"]))
place = 0
for block in d["row"]:
    assert block["offset"] == place, block["name"]
    place += block["rows"] * block["columns"] * block["width"]
    assert len(block["labels"]) == block["rows"]
    assert all(len(row) == block["columns"] for row in block["labels"])
assert place == d["row_size"]
PYTHON

check "describe every game, with a chance seat" python3 - "$tool" <<'PYTHON'
import json, subprocess, sys
def say(*words):
    return subprocess.run([sys.argv[1], "describe", *words], capture_output=True, check=True, text=True).stdout
for entry in json.loads(say("--json"))["games"]:
    game = entry["game"]
    for spec in (game, f"{game}:chance=seat"):
        d = json.loads(say(spec, "--json"))
        assert all(set(sum(block["labels"], [])) != {""} or block["rows"] * block["columns"] == 1 for block in d["row"])
        text = say(spec)
        assert ("and a chance seat" in text) == ("chance" in spec)
        assert (", cooperative" in text) == (game == "convoi")
        assert all(f"\n  {block['name']} " in text for block in d["row"])
        assert ("privileged row: the same layout" in text) == (text.count("block, kind, offset") == 1)
PYTHON

# ---- sim and arena

check "sim" accepts sim "$game" --agent random --episodes 50
check "sim states the ruleset" grep -q "^ruleset: *$game" out
check "sim says what is a reconstruction" grep -q "^note: .*reconstruction" out
check "sim on one thread" accepts sim "$game" --agent random --episodes 300 --threads 1 --json
cp out one.json
check "sim on three threads" accepts sim "$game" --agent random --episodes 300 --threads 3 --json
cp out three.json
check "results do not depend on threads" same_results one.json three.json
check "sim from another seed" accepts sim "$game" --agent random --episodes 300 --seed 9 --json
cp out other.json
check "results depend on the seed" bash -c '! cmp -s one.json other.json'
check "sim with a chance seat" accepts sim "$game:chance=seat" --agent random --episodes 20
check "arena" accepts arena "$game" --agents random,random --episodes 20
check "arena --json" accepts arena "$game" --agents random,random --episodes 20 --json
check "arena --json is JSON" is_json out
check "arena among opponents" accepts arena express:map=tiny --agents random,random --episodes 40
check "arena among opponents has shares" grep -qE "^  random +0\.[0-9]{4} \[" out
check "arena among opponents --json" accepts arena express:map=tiny --agents random,random --episodes 40 --json
check "shares of wins, draws and losses" python3 - <<'PYTHON'
import json
agents = json.load(open("out"))["agents"]
assert [agent["agent"] for agent in agents] == ["random", "random"]
for agent in agents:
    assert abs(sum(agent[key]["mean"] for key in ("win", "draw", "loss")) - 1) < 1e-9
assert abs(agents[0]["win"]["mean"] - agents[1]["loss"]["mean"]) < 1e-9
PYTHON
check "draws are counted" accepts arena nordic:turns_max=40 --agents random,random --episodes 40 --json
check "an episode that is cut short is a draw" python3 -c \
    'import json; assert all(agent["draw"]["mean"] > 0 for agent in json.load(open("out"))["agents"])'
check "one episode has no deviation" accepts sim "$game" --agent random --episodes 1 --threads 1
check "search plays too" accepts sim express:map=tiny --agents random,search --episodes 1 --threads 1

# ---- trace

check "trace" accepts trace "$game" --seed 5 --agent random --episodes 3
cp out trace.jsonl
check "trace is JSON Lines" is_json_lines trace.jsonl
check "trace is as documented" python3 - <<'PYTHON'
import json
lines = [json.loads(line) for line in open("trace.jsonl")]
headers = [line for line in lines if "trace" in line]
assert [header["seed"] for header in headers] == [5, 6, 7]
wanted = {"ruleset", "game", "rules_version", "agents", "note"}
assert all(wanted <= header.keys() for header in headers)
decisions = [line for line in lines if "event" not in line and "trace" not in line]
for line in decisions:
    assert line.keys() == {"step", "seat", "phase", "legal", "action", "hash", "state"}
    assert line["action"] in line["legal"] and len(line["hash"]) == 16
ends = [line for line in lines if line.get("event") == "end"]
assert len(ends) == 3 and all("metrics" in end and "rewards" in end for end in ends)
assert any("chance" in line for line in lines)
PYTHON
check "replay of a trace" accepts trace --actions trace.jsonl
check "replay gives the same bytes" cmp -s out trace.jsonl
check "same seed, same trace" accepts trace "$game" --seed 5 --agent random --episodes 3
check "same bytes" cmp -s out trace.jsonl
check "replay on other seeds" accepts trace --actions trace.jsonl --seed 77
check "a trace holds all of the chance" python3 - <<'PYTHON'
import json
def events(path):
    return [line for line in map(json.loads, open(path)) if "event" in line]
assert events("out") == events("trace.jsonl")
PYTHON
check "largest seed" accepts trace "$game" --agent random --seed 18446744073709551615
cp out large.jsonl
check "largest seed replays" accepts trace --actions large.jsonl
check "largest seed, same bytes" cmp -s out large.jsonl
check "trace with a chance seat" accepts trace "$game:chance=seat" --agent random
cp out seat.jsonl
check "replay with a chance seat" accepts trace --actions seat.jsonl
check "chance seat, same bytes" cmp -s out seat.jsonl

python3 - <<'PYTHON'
import json
lines = [json.loads(line) for line in open("trace.jsonl")]
first = lines[: next(i for i, line in enumerate(lines) if line.get("event") == "end") + 1]
with open("plain.txt", "w") as out:
    out.write("# the first episode as plain text\n\n")
    for line in first:
        if "chance" in line:
            out.write("chance %s %s\n" % tuple(line["chance"]))
        elif "action" in line and "event" not in line:
            out.write(line["action"] + "\n")
chance = next(line["chance"] for line in first if "chance" in line)
open("misfit.txt", "w").write("chance %s nothing\n" % chance[0])
decision = next(line for line in first if "legal" in line)
open("legal.txt", "w").write("\n".join(decision["legal"]))
open("cut.txt", "w").write(decision["action"] + "\n")
PYTHON
check "replay of plain text" accepts trace "$game" --seed 5 --actions plain.txt
check "plain text plays the same episode" python3 - <<'PYTHON'
import json
def body(path):
    return [line for line in map(json.loads, open(path)) if "trace" not in line]
played = body("out")
assert played == body("trace.jsonl")[: len(played)] and played[-1]["event"] == "end"
PYTHON
check "plain text needs a ruleset" refuses 2 "RULESET" trace --actions plain.txt
check "a script may stop early" accepts trace "$game" --seed 5 --actions cut.txt
echo "fly to the moon" >illegal.txt
check "unknown action" refuses 1 "illegal.txt:1: 'fly to the moon'" \
    trace "$game" --actions illegal.txt
echo "wait" >illegal.txt
check "illegal action" refuses 1 "illegal.txt:1: 'wait' is not legal" \
    trace "$game" --seed 5 --actions illegal.txt
check "the message lists what is legal" grep -qF "$(head -1 legal.txt)" err
check "unknown outcome" refuses 1 "misfit.txt:1:" trace "$game" --actions misfit.txt
echo "chance weather sunny" >misfit.txt
check "unknown source of chance" refuses 1 "misfit.txt:1: no source of chance 'weather'" \
    trace "$game" --actions misfit.txt
echo '{"trace":1,"ruleset":' >broken.jsonl
check "broken trace" refuses 1 "line 1" trace "$game" --actions broken.jsonl
check "missing script" refuses 1 "nowhere.txt" trace "$game" --actions nowhere.txt
check "actions exclude agents" refuses 2 "--actions" \
    trace "$game" --actions plain.txt --agent random
check "actions exclude one agent per seat" refuses 2 "--actions excludes" trace "$game" --actions plain.txt --agents random,random
check "actions exclude a number of episodes" refuses 2 "--actions excludes" trace "$game" --actions plain.txt --episodes 1
check "trace of an unknown ruleset in the file" refuses 2 "unknown game 'chess'" trace chess --actions plain.txt

# says LINE SENTENCE: a trace of this line is refused with the sentence.
says() {
    printf '%s\n' '{"trace":1,"ruleset":"convoi:board=europe,players=2"}' "$1" >wrong.jsonl
    refuses 1 "wrong.jsonl: line 2: $2" trace "$game" --actions wrong.jsonl
}
for seed in -1 '""' '"1x"' '"99999999999999999999"' true; do
    check "seed $seed" says "{\"trace\":1,\"seed\":$seed}" '"seed" is not a whole number from 0 to 2^64 - 1'
done
for chance in '"red"' '[1,"red"]' '["actions",1]' '["actions","move","switch"]'; do
    check "chance $chance" says "{\"event\":\"draw\",\"chance\":$chance}" '"chance" is not [stream, outcome], two strings'
done
check "line of no kind" says '{"step":1}' 'neither a header ("trace"), a decision ("action") nor an event ("event")'
check "header that says nothing" eval 'echo "{\"trace\":1}" >bare.jsonl && accepts trace "$game" --actions bare.jsonl'
printf '  \t# blanks\r\n \t%s  \r\n\n' "$(cat cut.txt)" >blanks.txt
printf '%s' "$(cat cut.txt)" >>blanks.txt
check "blanks around actions" refuses 1 "blanks.txt:4: '$(cat cut.txt)' is not legal here (step 2" \
    trace "$game" --seed 5 --actions blanks.txt
{ cat plain.txt; echo wait; } >long.txt
check "action behind the end" refuses 1 "long.txt:$(wc -l <long.txt): 'wait' comes after the end of the episode" \
    trace "$game" --seed 5 --actions long.txt
{ cat plain.txt; echo "chance start_dice 7"; } >spare.txt
run trace "$game" --seed 5 --actions spare.txt
check "outcome that is not needed" grep -q "spare.txt:$(wc -l <spare.txt): this outcome was not needed" err
check "outcome that is not needed is no failure" test "$status" -eq 0
printf 'chance tiles %s\n' rouge rouge >twice.txt
check "outcome that cannot happen at the start" refuses 1 \
    "twice.txt:2: chance 'tiles rouge' cannot happen there (step 0); possible: bleue, verte, brune" \
    trace chicago:tiles=random --actions twice.txt
python3 - <<'PYTHON'
lines = [line for line in open("plain.txt") if not line.startswith("#") and line.strip()]
first = next(i for i, line in enumerate(lines) if not line.startswith("chance"))
later = next(i for i, line in enumerate(lines) if i > first and line.startswith("chance instructions"))
card = lines[later].split()[2]
again = next(i for i, line in enumerate(lines) if i > later and line.startswith("chance instructions"))
lines[again] = f"chance instructions {card}\n"
open("again.txt", "w").writelines(lines)
open("again.line", "w").write(str(again + 1))
PYTHON
check "outcome that cannot happen in a step" refuses 1 "again.txt:$(cat again.line): chance 'instructions " \
    trace "$game" --seed 5 --actions again.txt
check "outcome that cannot happen: the step, and what could" grep -qE 'cannot happen there \(step [1-9][0-9]*\); possible: .+, ' err
printf 'chance 0\nfly\n' >seat.txt
check "an outcome of the chance seat is an action" refuses 1 "seat.txt:2: 'fly' is not an action of this ruleset (step 2" \
    trace "$game:chance=seat" --actions seat.txt

# ---- play

run play "$game" --seats human,human
check "play ends at the end of the input" test "$status" -eq 0
printf '?\n1\nnonsense\nq\n' | "$tool" play "$game" --seed 1 --seats human,random >out 2>err
check "play quits on q" test "$?" -eq 0
check "play says what it does not understand" grep -q "'nonsense' is none of the choices" out
yes 1 | "$tool" play "$game" --seats human,random >out 2>err
check "an episode can be played to its end" grep -q "The episode is over" out
check "a person must name seats that exist" refuses 2 "2 wanted" play "$game" --seats human
printf '999\n0\n\n  move \nmove black.1\nmove black\nq' | "$tool" play "$game" --seed 5 --seats human,human >out 2>err
check "play quits on a last line without an end" test "$?" -eq 0
check "play knows no number beyond the choices" grep -q "'999' is none of the choices" out
check "play counts from 1" grep -q "'0' is none of the choices" out
check "play wants more of an ambiguous name" grep -q "3 choices begin with 'move'; type more of it, or the number" out
check "play takes a name" grep -q "Seat 0, pay:" out
printf 'move bl\n' | "$tool" play "$game" --seed 5 --seats human,human >out 2>err
check "play takes the beginning of a name" grep -q "Seat 0, pay:" out
for other in nordic express chicago; do
    yes 1 | "$tool" play "$other" --seed 1 >out 2>err
    check "a person plays $other to its end" grep -q "The episode is over" out
    check "the question begins a line" grep -q "^Seat 0, " out
done
printf 'q\n' | "$tool" play nordic --seed 1 --seats human,random >out 2>err
check "what opponents draw is hidden" grep -qx "  \* deal: seat 1, hidden" out
check "what opponents keep is hidden" grep -qx "Seat 1 (random) has answered keep.first." out
check "what opponents keep is not told" eval '! grep -q "Seat 1 (random): keep" out'
check "own cards are told" grep -qE "^  \* deal: seat 0, card [a-z]+$" out

# ---- board check, and boards of the user's own

for file in "$source"/env/games/*/data/*.json; do
    check "board check $(basename "$file")" accepts board check "$file"
    check "it says ok" grep -q ": ok: " out
done
read -r key standard <<<"$(python3 -c 'import json
fields = json.load(open("description.json"))["fields"]
print(*next((f["key"], f["default"]) for f in fields if f["kind"] == "file"))')"
cp "$source/env/games/$game/data/$standard.json" "My Box.json"
head -c 200 "My Box.json" >cut.json
sed '0,/"format"/s//"farmat"/' "My Box.json" >unknown.json
check "cut file" refuses 1 "cut.json: line" board check cut.json
check "file without a format" refuses 1 "unknown.json: " board check unknown.json
check "missing file" refuses 1 "nowhere.json" board check nowhere.json
check "one bad file among good ones" refuses 1 "cut.json" board check "My Box.json" cut.json
check "own board" accepts trace "$game:$key=./My Box.json" --agent random
check "own board has name and hash" grep -qE "\"$key\":\"my_box@[0-9a-f]{8}\"" out
cp out own.jsonl
check "own board replays" accepts trace "$game:$key=./My Box.json" --actions own.jsonl
check "own board, same bytes" cmp -s out own.jsonl
check "own board is not the built-in one" refuses 1 "my_box@" trace "$game" --actions own.jsonl
check "missing own board" refuses 2 "nowhere.json" sim "$game:$key=nowhere.json"
check "unknown board" refuses 2 "$standard" sim "$game:$key=atlantis"
check "broken own board" refuses 2 "line" sim "$game:$key=./cut.json"
check "a directory is no file" refuses 1 ".: Is a directory" board check .
check "file without end" refuses 1 "/dev/zero: larger than 67108864 bytes" board check /dev/zero
check "unknown board with a hash" refuses 2 "board=a@b is not built in; allowed are europe, north_america, tiny, or a path" \
    sim "$game:clock=8,$key=a@b@c"
check "unknown board with a long name" refuses 2 "is not built in; allowed are europe" sim "$game:$key=$(printf 'a%.0s' {1..300})"
check "unknown deck" refuses 2 "deck=old is not built in; allowed are standard, or a path" sim "$game:$key=tiny,deck=old"
check "own board by its ending alone" refuses 2 "x.json: No such file" sim "$game:$key=x.json"
grep -v '"status"' "My Box.json" >"2nd_Box-of a very long name that is cut.json"
cp "2nd_Box-of a very long name that is cut.json" ./.hidden
cp "2nd_Box-of a very long name that is cut.json" "./é"
check "own board without a status" accepts describe "$game:$key=./2nd_Box-of a very long name that is cut.json"
check "own board of a long name" grep -qE "^ruleset: .*$key=2nd_box-of_a_very_long_name_that@" out
check "own board and deck without a note" eval "sed '/\"status\"/d' '$source/env/games/$game/data/standard_deck.json' >deck.json"
check "sim without a note" accepts sim "$game:$key=./.hidden,deck=./deck.json" --agent random --episodes 2 --threads 1
check "no note" eval '! grep -q "^note:" out'
check "own board of a hidden file" grep -qE "^ruleset: .*$key=_hidden@[0-9a-f]{8},deck=deck@" out
check "arena without a note" accepts arena "$game:$key=./é,deck=./deck.json" --agents random,random --episodes 2
check "arena: no note" eval '! grep -q "^note:" out'
check "describe without a note" accepts describe "$game:$key=./é,deck=./deck.json"
check "describe: no note" eval '! grep -q "^note:" out'
printf 'q\n' | "$tool" play "$game:$key=./é,deck=./deck.json" >out 2>err
check "play without a note" eval '! grep -q "^Note:" out'
check "bench of an own board stays in this process" accepts bench "$game:$key=./My Box.json" --seconds 0.01 --pool --json
check "bench of an own board: inproc alone" eval '! grep -qE "\"door\":\"(shm|ipc|tcp)\"" out && grep -q "\"door\":\"inproc\"" out'

# ---- replay

log=log/episodes-000001.tylog
check "sim --log" accepts sim "$game" --agent random --episodes 20 --log log --threads 2
check "replay verify" accepts replay verify $log
check "replay verify counts" grep -q "20 episodes, .* 20 agree" out
check "replay verify --json" accepts replay verify $log --json
check "replay verify --json is JSON" is_json out
python3 "$source/tests/log_tool.py" list $log >described
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
python3 "$source/tests/log_tool.py" flip $log 5 17 logs/episodes-000001.tylog
run replay verify logs
check "one bad file of a directory is a failure" test "$status" -eq 1
check "and the other files are verified too" grep -q "000002.*20 agree" out
check "replay verify of an empty directory" refuses 1 "no log" replay verify empty
check "an episode of a directory" refuses 2 "one file" replay show logs --episode 1
for step in 1 17 64 65; do
    python3 "$source/tests/log_tool.py" flip $log 5 $step flipped.tylog
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
python3 "$source/tests/log_tool.py" age $log 5 99 aged.tylog
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
python3 "$source/tests/log_tool.py" void $log 5 17 void.tylog
run replay bisect void.tylog
check "bisect of an action that no game has" grep -qx "the record says, which is not legal:" out
check "the action has no name" grep -qE "^ +17  seat [01] .*  \?$" out
run replay show void.tylog --episode 5
check "show stops where an action is not legal" grep -qE "^ +17  seat [01] .*  \?$" out
check "sim with a chance seat --log" accepts sim "$game:chance=seat" --agent random --episodes 3 --log seat --threads 1
python3 "$source/tests/log_tool.py" void seat/episodes-000001.tylog 0 1 void.tylog
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

# ---- bench

check "bench --json" accepts bench "$game" --seconds 0.05 --json
check "bench has its keys" python3 - <<'PYTHON'
import json
(entry,) = json.load(open("out"))
for key in ("decisions_per_s", "ns_per_decision", "ref_copy_ns", "ratio", "row_bytes",
            "mask_bytes", "state_bytes", "clone_ns", "step_ns", "legal_ns", "observe_ns",
            "sample_ns", "reset_ns", "episodes_per_s"):
    assert entry[key] > 0, key
assert len(entry["signature"]) == 16 and entry["ruleset"] and entry["cpu"] and entry["compiler"]
PYTHON
check "bench shows pools" python3 - <<'PYTHON'
import json
(entry,) = json.load(open("out"))
pool = entry["pool"]
cells = {(c["door"], c.get("threads"), c["groups"], c["batch"]): c for c in pool["rates"]}
batches = (1, 32, 256, 1024, 4096)
for groups in (1, 2):
    for batch in batches:
        for threads in (1, 2):
            assert cells["inproc", threads, groups, batch]["decisions_per_s"] > 0
            assert cells["shm", threads, groups, batch]["decisions_per_s"] > 0
            assert cells["shm", threads, groups, batch]["of_inproc"] > 0
        ipc, tcp = cells["ipc", 1, groups, batch], cells["tcp", 1, groups, batch]
        bare, step = cells["bare-ipc", None, groups, batch], cells["step-ipc", 1, groups, batch]
        assert ipc["decisions_per_s"] > 0 and tcp["decisions_per_s"] > 0
        assert ipc["reply_bytes"] == bare["reply_bytes"] == step["reply_bytes"] > 100 * batch
        assert abs(ipc["of_bare_ipc"] * bare["rows_per_s"] / ipc["decisions_per_s"] - 1) < 1e-3
        assert abs(ipc["of_step_ipc"] * step["decisions_per_s"] / ipc["decisions_per_s"] - 1) < 1e-3
        assert tcp["of_bare_tcp"] > 0
for door in ("inproc", "shm", "ipc", "tcp"):
    assert cells[door, 1, 1, 1]["p99_us"] >= cells[door, 1, 1, 1]["p50_us"] > 0
assert pool["slot_bytes"] >= pool["slot_state_bytes"] + pool["slot_rows_bytes"] > 0
assert pool["slots_10000_bytes"] < 64 << 20 and pool["client_bytes"] > 0
PYTHON
check "bench --pool" accepts bench "$game" --seconds 0.05 --pool
check "bench --pool measures pools alone" eval '! grep -q "ns per decision" out && grep -q shm out'
check "bench --doors" accepts bench "$game" --seconds 0.05 --pool --doors inproc
check "bench --doors inproc measures no other door" eval '! grep -qE "shm  |ipc|tcp" out'
check "bench of no such door" refuses 2 "inproc, shm, ipc, tcp" bench "$game" --doors window
check "bench" accepts bench "$game" --seconds 0.05 --doors inproc
check "bench prints the signature" grep -qE "^signature: [0-9a-f]{16}$" out
check "bench of everything" accepts bench --seconds 0.001 --doors inproc
check "bench of everything has every game and map" eval \
    'grep -q "^convoi:board=tiny" out && grep -q "^nordic:map=standard" out && grep -q "^chicago:train=standard" out'
check "an interrupted bench leaves neither daemon nor directory" python3 - "$tool" "$game" <<'PYTHON'
import os, signal, subprocess, sys, time
bench = subprocess.Popen([sys.argv[1], "bench", sys.argv[2], "--pool", "--seconds", "60"], stdout=subprocess.DEVNULL)
daemon = directory = None
while daemon is None:
    assert bench.poll() is None
    time.sleep(0.05)
    for child in open(f"/proc/{bench.pid}/task/{bench.pid}/children").read().split():
        words = open(f"/proc/{child}/cmdline").read().split("\0")
        if "--shm" in words:
            daemon, directory = child, os.path.dirname(words[words.index("--shm") + 1])
bench.send_signal(signal.SIGINT)
assert bench.wait(10) == -signal.SIGINT
assert not os.path.exists(directory) and not os.path.exists(f"/proc/{daemon}")
PYTHON

# ---- A daemon: keygen, stats, agent, open seats. tests/test_examples.sh plays through it.

check "keygen" accepts keygen me
check "keygen writes both" eval 'grep -q "^secret " me.secret && grep -q "^public " me.pub'
check "keygen overwrites nothing" refuses 1 "me.secret: File exists" keygen me
rm me.secret
check "keygen overwrites no public key either" refuses 1 "me.pub: File exists" keygen me
check "keygen of a long name" refuses 2 "the name is too long" keygen "$(printf 'a%.0s' {1..1020})"
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
check "stats are those of the daemon" grep -qE "^up [0-9.]+ s, 1 sessions, [0-9]+ requests" out
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
check "stats show the pool" accepts stats --connect "$endpoint"
check "stats show what is played" grep -qE "^  pool [0-9]+ +express:map=tiny,players=2: 3 slots, 1 members" out
for seats in 1x 9 x 1,,0 1,1,1,1,1,1 ,; do
    check "seats '$seats'" refuses 1 "--seats: '$seats' is not a list of seats such as 0,2" agent random "${invited[@]}" --seats "$seats"
done
check "agent that does not play the game" refuses 1 "agent 'nobody' does not play express" agent nobody "${invited[@]}" --seats 1
wait $sim
check "a seat that was left ends the run" grep -q "whoever played seat 1 is gone" said
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
