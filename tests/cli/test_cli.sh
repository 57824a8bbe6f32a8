#!/bin/bash
# The command-line tool through its front door: arguments, describe, sim, arena, trace, play, board.
. "$(dirname "$0")/tool.sh"

# ---- Help

check "version" accepts --version
check "help" accepts --help
check "help lists the commands" grep -q arena out
check "help names the commands of the Python package" grep -q "^  mcp " out
check "no command is an error that lists them" refuses 2 "arena"
check "unknown command is an error that lists them" refuses 2 "arena" fly
check "-h" accepts -h
check "help as a command" accepts help
check "help of a command by -h" accepts sim -h
cp out help_of_sim
check "help of a command by help" accepts help sim
check "help of a command is the same in every way" cmp -s out help_of_sim
check "commands of the Python package say where they are" refuses 2 "python3 -m trainyard mcp" mcp
check "help of an unknown command" refuses 2 "unknown command 'fly'" help fly
for command in play sim arena crossplay ladder trace replay view serve describe board bench keygen stats agent; do
    check "$command --help" accepts "$command" --help
    check "$command --help has an example" grep -q "^  trainyard $command" out
    check "$command --help has its options in line" python3 - <<'PYTHON'
import re
lines = open("out").read().splitlines()
options = [line for line in lines if line.startswith("  --")]
assert options and len({re.match(r"  --\S+( \S+)? {2,}", line).end() for line in options}) == 1
assert all(len(line) <= 100 for line in lines)
PYTHON
done

# ---- Bad arguments: status 2, and what is allowed

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
check "arena with an unknown agent" refuses 2 "--agents: 'nobody' does not play $game; there are random" \
    arena "$game" --agents random,nobody
check "arena with too many agents" refuses 2 "--agents: 3 given, at most 2 fit at the table of express" \
    arena express --agents random,random,random
check "two agents in one option" refuses 2 "--agent: 2 given, 1 wanted" sim "$game" --agent random,random
check "two daemons" refuses 2 "--agents: 'ipc://b' does not play" sim "$game" --agents ipc://a,ipc://b
check "a setting that an agent lacks" refuses 2 "--agent: search has no key 'playoutz'; it has playouts, turns, margin, ms, net; did you mean playouts?" \
    sim "$game" --agent search:playoutz=3
check "a setting out of range" refuses 2 "--agents: playouts=0: out of range; allowed is 1..1000000" \
    arena "$game" --agents search:playouts=0,random
check "settings of an agent that has none" refuses 2 "--agent: random has no settings; 'x=1' was given" \
    trace "$game" --agent random:x=1
check "play of an unknown game" refuses 2 "unknown game 'chess'" play chess
check "play with an unknown agent" refuses 2 "--seats: 'nobody' does not play $game; there are random" \
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
check "describe tells how to play" accepts describe "$game" --rules
check "the page has the settings" grep -qx -- "- players = 2: number of players" out
check "describe has the board" accepts describe "$game" --board
check "the board is a graph" python3 -c 'import json; d = json.load(open("out")); assert d["nodes"] and d["edges"] and d["features"]'
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
assert len(d["actions"]) == d["action_count"] == len(set(d["actions"]))
place = 0
for block in d["row"]:
    assert block["offset"] == place, block["name"]
    place += block["rows"] * block["columns"] * block["width"]
    assert len(block["labels"]) == block["rows"]
    assert all(len(row) == block["columns"] for row in block["labels"])
    assert len(block.get("values", [])) == (block["kind"] == "category") * (block["maximum"] + 1)
assert place == d["row_size"]
fields = {field["key"]: field for field in d["fields"]}
assert fields["players"] == {"key": "players", "kind": "int", "value": 2, "default": 2, "minimum": 2, "maximum": 4,
                             "help": "number of players"}
assert fields["board"]["value"] == "europe" and "tiny" in fields["board"]["choices"]
assert fields["hints"]["value"] is False
assert {agent["name"] for agent in d["agents"]} == {"random", "expert", "search", "net"}
streams = {stream["name"]: stream["outcomes"] for stream in d["streams"]}
assert streams["die_brown"] == ["", "1", "2", "3", "4"]  # a place for every number
assert d["metrics"][:2] == ["won", "goods"] and len(d["full_row"]) > 0
PYTHON
check "a setting has its value" eval '"$tool" describe "$game:players=3" | grep -q "^  players  *int value=3 default=2 minimum=2 maximum=4$"'

check "an agent's setting is told like a game's" eval '"$tool" describe "$game" | grep -q "^      playouts  *int default=64 minimum=1 maximum=1000000$"'
check "describe every game, with a chance seat" python3 - "$tool" <<'PYTHON'
import json, re, subprocess, sys
def say(*words):
    return subprocess.run([sys.argv[1], "describe", *words], capture_output=True, check=True, text=True).stdout
for entry in json.loads(say("--json"))["games"]:
    game = entry["game"]
    for spec in (game, f"{game}:chance=seat"):
        d = json.loads(say(spec, "--json"))
        assert all(set(sum(block["labels"], [])) != {""} or block["rows"] * block["columns"] == 1 for block in d["row"])
        text = say(spec)
        assert d["seats"] == d["players"] + ("chance" in spec)
        assert d["cooperative"] == (game == "convoi")
        for key, value in d.items():  # the text has the same keys, and all names
            assert (f"\n{key}:" in f"\n{text}") == (value != ""), key
            if isinstance(value, int) and not isinstance(value, bool):
                assert f"\n{key}: {value}\n" in re.sub(": +", ": ", text), key
        words = [block["name"] for block in d["row"]] + [stream["name"] for stream in d["streams"]]
        assert all(re.search(rf"\n  {re.escape(word)}( |\n)", text) for word in words)
        assert all(f"  {number}  {action}\n" in text for number, action in enumerate(d["actions"]))
        assert ("\nfull_row:\n  as row\n" in text) == (d["row"] == d["full_row"])
        lines = text.splitlines()
        assert not any(line.endswith(" ") for line in lines)
        flat = " ".join(line.strip() for line in lines)
        for block in d["row"]:
            assert all(f" {value} = {name}" in flat for value, name in enumerate(block.get("values", [])) if name)
            for number, name in enumerate(sum(block["labels"], [])):
                assert not name or f" {block['offset'] + number * block['width']} {name}" in flat, name
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
accepts arena express:map=tiny --agents random,search:playouts=2,margin=true --episodes 2
check "arena with a long name keeps its columns" test "$(grep -oE "^  (random|search\S+) +[0-9.]+ \[" out | awk '{print length}' | sort -u | wc -l)" = 1
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
assert all(header["trace"] == 2 for header in headers)
decisions = [line for line in lines if "action" in line and "event" not in line]
for line in decisions:
    assert list(line) == ["step", "seat", "phase", "legal", "action", "rewards", "hash", "state"]
    assert line["action"] in line["legal"] and len(line["hash"]) == 16 and len(line["rewards"]) == 2
draws = [line for line in lines if "chance" in line]
assert len(draws) > 50
for line in draws:
    assert list(line) == ["step", "chance", "weights"]
    assert line["weights"][line["chance"][1]] > 0 and all(weight > 0 for weight in line["weights"].values())
ends = [line for line in lines if "over" in line]
assert len(ends) == len([line for line in lines if line.get("event") == "end"]) == 3
for end in ends:
    assert list(end) == ["step", "over", "truncated", "metrics", "returns", "hash", "state"]
    assert end["over"] and not end["truncated"] and end["metrics"]["turns"] > 0
last = [i for i, line in enumerate(lines) if "trace" in line][1:] + [len(lines)]
assert [lines[i - 1] for i in last] == ends  # the last line of each episode
assert len(decisions) + len(draws) + len(ends) + len(headers) + sum("event" in line for line in lines) == len(lines)
PYTHON
check "weights of a deck are what is left of it" python3 - <<'PYTHON'
import json
lines = [json.loads(line) for line in open("trace.jsonl")]
end = next(i for i, line in enumerate(lines) if "over" in line)
deck = None
for line in lines[:end]:
    if line.get("chance", [""])[0] == "instructions":
        assert deck is None or len(deck) == 0 or line["weights"] == deck
        deck = {card: weight for card, weight in line["weights"].items() if card != line["chance"][1]}
PYTHON
for other in nordic express chicago "$game:reward=delivery,board=tiny"; do
    check "trace of $other" accepts trace "$other" --seed 3 --episodes 2
    check "rewards of the steps of $other add up, and every draw is told" python3 - <<'PYTHON'
import json
earned = draws = None
for line in map(json.loads, open("out")):
    if "trace" in line:
        earned, draws = [0, 0], 0
    elif "over" in line:
        assert line["returns"] == earned and draws > 10, (line["returns"], earned, draws)
    elif "rewards" in line:
        earned = [a + b for a, b in zip(earned, line["rewards"])]
    elif "chance" in line:
        draws += 1
PYTHON
done
check "trace without states" accepts trace "$game" --seed 5 --agent random --episodes 3 --no-state
check "--no-state leaves the states out and nothing else" python3 - <<'PYTHON'
import json
whole = [json.loads(line) for line in open("trace.jsonl")]
assert [{k: v for k, v in line.items() if k != "state"} for line in whole] == [json.loads(line) for line in open("out")]
PYTHON
check "replay of a trace" accepts trace --script trace.jsonl
check "replay gives the same bytes" cmp -s out trace.jsonl
check "same seed, same trace" accepts trace "$game" --seed 5 --agent random --episodes 3
check "same bytes" cmp -s out trace.jsonl
check "replay on other seeds" accepts trace --script trace.jsonl --seed 77
check "a trace holds all of the chance" python3 - <<'PYTHON'
import json
def happened(path):
    lines = [json.loads(line) for line in open(path)]
    return [{k: v for k, v in line.items() if k != "hash"} for line in lines if "trace" not in line]
assert happened("out") == happened("trace.jsonl")
PYTHON
check "largest seed" accepts trace "$game" --agent random --seed 18446744073709551615
cp out large.jsonl
check "largest seed replays" accepts trace --script large.jsonl
check "largest seed, same bytes" cmp -s out large.jsonl
check "trace with a chance seat" accepts trace "$game:chance=seat" --agent random
cp out seat.jsonl
check "replay with a chance seat" accepts trace --script seat.jsonl
check "chance seat, same bytes" cmp -s out seat.jsonl
check "the answers of the chance seat become the draws of their step" python3 - "$tool" "$game" <<'PYTHON'
import json, subprocess, sys
said = subprocess.run([sys.argv[1], "describe", sys.argv[2], "--json"], capture_output=True, check=True).stdout
outcomes = {stream["name"]: stream["outcomes"] for stream in json.loads(said)["streams"]}
answers, checked = [], 0
for line in map(json.loads, open("seat.jsonl")):
    if line.get("phase") == "chance":
        assert line["seat"] == 2 and line["state"]
        answers.append((int(line["action"].split()[1]), [int(name.split()[1]) for name in line["legal"]]))
    elif "chance" in line:
        names = outcomes[line["chance"][0]]
        number, legal = answers.pop(0)
        assert names[number] == line["chance"][1] and [names[i] for i in legal] == list(line["weights"])
        checked += 1
assert checked > 20 and not answers
PYTHON

# A trace is played in this process, by agents of the library.
for agent in open ipc://nowhere tcp://localhost:5555 human; do
    check "trace with the agent $agent" refuses 2 \
        "--agent: '$agent' does not play $game; there are random, expert, search, net" \
        trace "$game" --agent "$agent"
    check "trace with the agents $agent" refuses 2 "--agents: '$agent' does not play" trace "$game" --agents "random,$agent"
done
for mix in expert@ expert@0.5 expert@+random expert@1.1+random expert@2+random expert@-1+random expert@.5+random \
    expert@0.5x+random expert@0.1234567+random expert@0,5+random; do
    check "mix $mix" refuses 2 "--agent: " trace "$game" --agent "$mix"
done
check "mix without a probability" refuses 2 "--agent: 'expert@1.1+random': behind '@' stands a probability from 0 to 1" \
    trace "$game" --agent expert@1.1+random
check "mix with nobody" refuses 2 "--agent: 'nobody' does not play $game; there are random, expert, search, net; or two of them as in" trace "$game" --agent expert@0.5+nobody
check "mix of nobody" refuses 2 "--agent: 'open' does not play" trace "$game" --agent open@0.5+random
check "trace with too few agents" refuses 2 "--agents: 1 given, 2 wanted" trace "$game" --agents random
check "trace with too many agents" refuses 2 "--agent: 2 given, 1 wanted" trace "$game" --agent random,random
check "trace with agent and agents" refuses 2 "exclude" trace "$game" --agent random --agents random,random
body() { grep -v '"trace":2' "$1" >"$2"; }
for spec in "$game:board=tiny" express; do
    for agent in expert random; do
        "$tool" trace "$spec" --agent $agent --no-state | grep -v '"trace":2' >"$agent.jsonl"
    done
    check "mix" accepts trace "$spec" --agent expert@0.9+random --no-state
    check "mix has its name in the header" grep -qF '"agents":["expert@0.9+random","expert@0.9+random"]' out
    cp out mix.jsonl
    check "the same mix again" accepts trace "$spec" --agent expert@0.9+random --no-state
    check "the same mix, same bytes" cmp -s out mix.jsonl
    body mix.jsonl mix.body
    check "a mix is not the first agent" eval '! cmp -s mix.body expert.jsonl'
    check "a mix with probability 1" accepts trace "$spec" --agent expert@1+random --no-state
    body out out.body
    check "a mix with probability 1 is the first agent" cmp -s out.body expert.jsonl
    check "a mix with probability 0" accepts trace "$spec" --agent expert@0.0+random --no-state
    body out out.body
    check "a mix with probability 0 is the second agent" cmp -s out.body random.jsonl
done
check "mixes of seats" accepts trace "$game:chance=seat" --agents expert@0.5+random,search@0+random --no-state --episodes 2

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
with open("opening.jsonl", "w") as out:
    out.writelines(json.dumps(line) + "\n" for line in first[: len(first) // 2])
chance = next(line["chance"] for line in first if "chance" in line)
open("misfit.txt", "w").write("chance %s nothing\n" % chance[0])
decision = next(line for line in first if "legal" in line)
open("legal.txt", "w").write("\n".join(decision["legal"]))
open("cut.txt", "w").write(decision["action"] + "\n")
PYTHON
check "replay of plain text" accepts trace "$game" --seed 5 --script plain.txt
check "plain text plays the same episode" python3 - <<'PYTHON'
import json
def body(path):
    return [line for line in map(json.loads, open(path)) if "trace" not in line]
played = body("out")
assert played == body("trace.jsonl")[: len(played)] and played[-1]["over"]
PYTHON
check "plain text needs a ruleset" refuses 2 "RULESET" trace --script plain.txt
check "a script may stop early" accepts trace "$game" --seed 5 --script cut.txt
check "and the last position is told" eval 'tail -1 out | grep -q "^{\"step\":1,\"over\":false,\"truncated\":false,.*\"state\":{"'
check "an agent goes on behind the script" accepts trace --script opening.jsonl --agent expert
cp out finished.jsonl
check "the script was played, then the agent to the end" python3 - <<'PYTHON'
import json
opening, played = ([json.loads(line) for line in open(path)] for path in ("opening.jsonl", "finished.jsonl"))
assert played[0]["agents"] == ["script, then expert"] * 2
assert played[1 : len(opening)] == opening[1:] and len(played) > len(opening) and played[-1]["over"]
PYTHON
check "what the agent added replays" accepts trace --script finished.jsonl
check "what the agent added, same bytes" cmp -s out finished.jsonl
check "agents of the seats go on behind the script" accepts trace --script opening.jsonl --agents expert@0.5+random,random
check "an agent goes on with a chance seat" eval \
    'head -40 seat.jsonl >half.jsonl && accepts trace --script half.jsonl --agent random && tail -1 out | grep -q "\"over\":true"'
check "nobody goes on" refuses 2 "--agent: 'nobody'" trace --script opening.jsonl --agent nobody
echo "fly to the moon" >illegal.txt
check "unknown action" refuses 1 "illegal.txt:1: 'fly to the moon'" \
    trace "$game" --script illegal.txt
echo "wait" >illegal.txt
check "illegal action" refuses 1 "illegal.txt:1: 'wait' is not legal" \
    trace "$game" --seed 5 --script illegal.txt
check "the message lists what is legal" grep -qF "$(head -1 legal.txt)" err
check "unknown outcome" refuses 1 "misfit.txt:1:" trace "$game" --script misfit.txt
echo "chance weather sunny" >misfit.txt
check "unknown source of chance" refuses 1 "misfit.txt:1: no source of chance 'weather'" \
    trace "$game" --script misfit.txt
echo '{"trace":2,"ruleset":' >broken.jsonl
check "broken trace" refuses 1 "line 1" trace "$game" --script broken.jsonl
check "missing script" refuses 1 "nowhere.txt" trace "$game" --script nowhere.txt
check "a script excludes a number of episodes" refuses 2 "--script excludes" trace "$game" --script plain.txt --episodes 1
check "trace of an unknown ruleset in the file" refuses 2 "unknown game 'chess'" trace chess --script plain.txt

# says LINE SENTENCE: a trace of this line is refused with the sentence.
says() {
    printf '%s\n' '{"trace":2,"ruleset":"convoi:board=europe,players=2"}' "$1" >wrong.jsonl
    refuses 1 "wrong.jsonl: line 2: $2" trace "$game" --script wrong.jsonl
}
for seed in -1 '""' '"1x"' '"99999999999999999999"' true; do
    check "seed $seed" says "{\"trace\":2,\"seed\":$seed}" '"seed" is not a whole number from 0 to 2^64 - 1'
done
for chance in '"red"' '[1,"red"]' '["actions",1]' '["actions","move","switch"]'; do
    check "chance $chance" says "{\"chance\":$chance}" '"chance" is not [stream, outcome], two strings'
done
check "line of no kind" says '{"step":1}' 'has none of "trace" (a header), "action", "chance", "event" and "over"'
check "trace of another format" says '{"trace":1}' '"trace" is not 2, the version of the format'
check "header that says nothing" eval 'echo "{\"trace\":2}" >bare.jsonl && accepts trace "$game" --script bare.jsonl'
printf '  \t# blanks\r\n \t%s  \r\n\n' "$(cat cut.txt)" >blanks.txt
printf '%s' "$(cat cut.txt)" >>blanks.txt
check "blanks around actions" refuses 1 "blanks.txt:4: '$(cat cut.txt)' is not legal here (step 2" \
    trace "$game" --seed 5 --script blanks.txt
{ cat plain.txt; echo wait; } >long.txt
check "action behind the end" refuses 1 "long.txt:$(wc -l <long.txt): 'wait' comes after the end of the episode" \
    trace "$game" --seed 5 --script long.txt
{ cat plain.txt; echo "chance start_dice 7"; } >spare.txt
run trace "$game" --seed 5 --script spare.txt
check "outcome that is not needed" grep -q "spare.txt:$(wc -l <spare.txt): this outcome was not needed" err
check "outcome that is not needed is no failure" test "$status" -eq 0
printf 'chance tiles %s\n' rouge rouge >twice.txt
check "outcome that cannot happen at the start" refuses 1 \
    "twice.txt:2: chance 'tiles rouge' cannot happen there (step 0); possible: bleue, verte, brune" \
    trace chicago:tiles=random --script twice.txt
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
    trace "$game" --seed 5 --script again.txt
check "outcome that cannot happen: the step, and what could" grep -qE 'cannot happen there \(step [1-9][0-9]*\); possible: .+, ' err
printf 'chance 0\nfly\n' >seat.txt
check "an outcome of the chance seat is an action" refuses 1 "seat.txt:2: 'fly' is not an action of this ruleset (step 2" \
    trace "$game:chance=seat" --script seat.txt

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
check "play takes a name" grep -q "^Question to seat 0 (you), pay:" out
printf 'move bl\n' | "$tool" play "$game" --seed 5 --seats human,human >out 2>err
check "play takes the beginning of a name" grep -q "^Question to seat 0 (you), pay:" out
for other in $("$tool" describe --json | python3 -c 'import json, sys; print(*(game["game"] for game in json.load(sys.stdin)["games"]))'); do
    yes 1 | "$tool" play "$other" --seed 1 >out 2>err
    check "a person plays $other to its end" grep -q "The episode is over" out
    check "the question begins a line" grep -q "^Question to seat 0 (you)" out
    check "what happened is told in sentences" grep -qE "^  \* [A-Z].*[^.]\.$" out
    check "the board is drawn, in 80 columns" python3 -c '
lines = open("out", encoding="utf-8").read().split("\n")
drawn = [line for line in lines if any("\u2801" <= letter <= "\u28ff" for letter in line)]
assert len(drawn) > 10 and max(map(len, drawn)) <= 80, (len(drawn), max(map(len, drawn)))'
done
printf 'q\n' | "$tool" play nordic --seed 1 --seats human,random >out 2>err
check "what opponents draw is hidden" grep -q "^  \* Seat 1 is dealt a card (4 times)[.;]" out
check "what opponents keep is hidden" grep -qx "Seat 1 (random) has answered keep.first." out
check "what opponents keep is not told" eval '! grep -q "Seat 1 (random): keep" out'
check "own cards are told" grep -qE "^  \* Seat 0 is dealt [a-z]+( \([0-9] times\))?[.;]" out

# ---- board check, and boards of the user's own

for file in "$source"/env/games/*/data/*.json; do
    check "board check $(basename "$file")" accepts board check "$file"
    check "it says ok" grep -q ": ok: " out
done
head -c 200 "My Box.json" >cut.json
sed '0,/"format"/s//"farmat"/' "My Box.json" >unknown.json
check "cut file" refuses 1 "cut.json: line" board check cut.json
check "file without a format" refuses 1 "unknown.json: " board check unknown.json
check "missing file" refuses 1 "nowhere.json" board check nowhere.json
check "one bad file among good ones" refuses 1 "cut.json" board check "My Box.json" cut.json
check "own board" accepts trace "$game:$key=./My Box.json" --agent random
check "own board has name and hash" grep -qE "\"$key\":\"my_box@[0-9a-f]{8}\"" out
cp out own.jsonl
check "own board replays" accepts trace "$game:$key=./My Box.json" --script own.jsonl
check "own board, same bytes" cmp -s out own.jsonl
check "own board is not the built-in one" refuses 1 "my_box@" trace "$game" --script own.jsonl
check "missing own board" refuses 2 "nowhere.json" sim "$game:$key=nowhere.json"
check "unknown board" refuses 2 "$standard" sim "$game:$key=atlantis"
check "broken own board" refuses 2 "line" sim "$game:$key=./cut.json"
check "a directory is no file" refuses 1 ".: Is a directory" board check .
check "file without end" refuses 1 "/dev/zero: larger than 67108864 bytes" board check /dev/zero
check "unknown board with a hash" refuses 2 "board=a@b: neither built in nor a path, which has a '/' or ends in .json; built in are europe, north_america, tiny" \
    sim "$game:clock=8,$key=a@b@c"
check "unknown board with a long name" refuses 2 "neither built in nor a path, which has a '/' or ends in .json; built in are europe" sim "$game:$key=$(printf 'a%.0s' {1..300})"
check "misspelt board" refuses 2 "europe, north_america, tiny; did you mean tiny?" sim "$game:$key=tinny"
check "unknown deck" refuses 2 "deck=old: neither built in nor a path, which has a '/' or ends in .json; built in are standard" sim "$game:$key=tiny,deck=old"
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

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
