#!/bin/bash
# The command-line tool's tables of agents: crossplay and ladder.
. "$(dirname "$0")/tool.sh"

# same_cells RULESET FILE [AGENT]: every cell of the table in FILE is what sim says of the two agents, with AGENT in the
# seats called open.
same_cells() {
    python3 - "$tool" "$@" <<'PYTHON'
import json, subprocess, sys
tool, ruleset, path, *program = sys.argv[1:]
table = json.load(open(path))
def sim(agents):
    agents = ",".join(program[0] if agent == "open" else agent for agent in agents)
    words = [tool, "sim", ruleset, "--agents", agents, "--episodes", str(table["episodes"]), "--seed", str(table["seed"])]
    return json.loads(subprocess.check_output([*words, "--json"]))
names = [agent["agent"] for agent in table["agents"]]
for row in table["agents"]:
    for name, cell in zip(names, row["cells"], strict=True):
        result = sim([row["agent"], name])
        wanted = result["metrics"]["won"] if table["cooperative"] else {"mean": (1 + result["returns"][0]["mean"]) / 2}
        assert abs(cell["mean"] - wanted["mean"]) < 1e-6, (row["agent"], name, cell, wanted)
        assert 0 <= cell["low"] <= cell["mean"] <= cell["high"] <= 1 and cell["low"] < cell["high"], cell
        if table["cooperative"]:
            assert abs(cell["low"] - wanted["low"]) < 1e-6 and abs(cell["high"] - wanted["high"]) < 1e-6
PYTHON
}

# ---- crossplay

check "crossplay" accepts crossplay convoi --agents expert,random --episodes 20 --seed 3
check "crossplay names the measure" grep -q "^cells: *won, its 95 % interval; row: seat 0, column: seat 1" out
check "crossplay has a row for each agent" grep -qE "^   2 random +0\.000 \[0\.000, 0\.161\] +0\.000" out
check "crossplay has means" grep -qE "^  all +0\.[0-9]+ \[.* 0\.000 \[" out
check "crossplay --json" accepts crossplay convoi --agents expert,random --episodes 20 --seed 3 --json
check "crossplay: cells of partners are known ones" same_cells convoi out
check "crossplay: means of self-play and cross-play" python3 -c '
import json
table = json.load(open("out"))
cells = [[cell["mean"] for cell in agent["cells"]] for agent in table["agents"]]
near = lambda a, b: abs(a - b) < 1e-6
assert near(table["self_play"]["mean"], (cells[0][0] + cells[1][1]) / 2)
assert near(table["cross_play"]["mean"], (cells[0][1] + cells[1][0]) / 2)
assert near(table["agents"][0]["self_play"]["mean"], cells[0][0]) and cells[0][0] > 0.2'
check "crossplay --best" accepts crossplay convoi:board=tiny --agents expert,random --best expert --metric goods --episodes 20 --json
check "crossplay --best: shares of what the best response reaches" python3 -c '
import json
table = json.load(open("out"))
cells = [[cell["mean"] for cell in agent["cells"]] for agent in table["agents"]]
best = [b["value"]["mean"] for b in table["best"]]
near = lambda a, b: abs(a - b) < 1e-6
assert [b["agent"] for b in table["best"]] == ["expert", "expert"]
assert near(best[0], cells[0][0]) and near(best[1], (cells[0][1] + cells[1][0]) / 2)
expert, random = table["agents"]
assert near(expert["shares_of_best"][0]["mean"], 1) and near(expert["shares_of_best"][1]["mean"], 1)
assert near(expert["share_of_best"]["mean"], 1)
assert near(random["shares_of_best"][0]["mean"], (cells[0][1] + cells[1][0]) / 2 / best[0])
assert random["share_of_best"]["low"] <= random["share_of_best"]["mean"] < 0.9'
check "crossplay --best as text" accepts crossplay convoi:board=tiny --agents expert,random --best expert,random --episodes 4
check "crossplay --best as text names them" grep -qE "^   2 random .* with random$" out
check "crossplay --best: too few" refuses 2 "2 given; wanted is 1, or one for each of 3 agents" \
    crossplay convoi --agents random,random,random --best random,random
check "crossplay --best of opponents" refuses 2 "is not cooperative" crossplay express --agents random,random --best random
check "crossplay of opponents" accepts crossplay express --agents expert,random --episodes 20 --json
check "crossplay: cells of opponents are known ones" same_cells express out
check "crossplay: opponents from all seats" python3 -c '
import json
agents = json.load(open("out"))["agents"]
wanted = (agents[0]["cells"][1]["mean"] + 1 - agents[1]["cells"][0]["mean"]) / 2
assert abs(agents[0]["cross_play"]["mean"] - wanted) < 1e-6 and wanted > 0.9
assert abs(agents[0]["cross_play"]["mean"] + agents[1]["cross_play"]["mean"] - 1) < 1e-6'
check "crossplay of three partners" accepts crossplay convoi:players=3 --agents expert,random --metric goods --episodes 5 --json
check "crossplay of three partners has every filling" python3 -c '
import json
table = json.load(open("out"))
fillings = {tuple(f["seats"]): f["value"]["mean"] for f in table["fillings"]}
assert len(fillings) == 8 and table["measure"] == "goods"
assert table["agents"][0]["cells"][1]["mean"] == fillings["expert", "random", "expert"]
assert table["agents"][1]["cells"][0]["mean"] == fillings["random", "expert", "random"]'
check "crossplay of many fillings: pairs" accepts crossplay convoi:players=4 --episodes 1 --json \
    --agents random,random,random,random
check "crossplay of many fillings has the pairs alone" python3 -c '
import json
assert len(json.load(open("out"))["fillings"]) == 16'
check "crossplay -o" accepts crossplay express:map=tiny --agents random,search:playouts=1 --episodes 2 -o table.html
check "crossplay -o draws every cell" test "$(grep -c '<rect' table.html)" -eq 4
check "crossplay -o is well-formed" python3 -c '
import re, xml.etree.ElementTree as tree
page = open("table.html").read()
svg = tree.fromstring(re.search("<svg.*</svg>", page, re.S).group())
texts = [text.text for text in svg.iter("{http://www.w3.org/2000/svg}text")]
assert texts.count("random") == 2 and any(text.startswith("search:playouts=1") for text in texts), texts'
check "crossplay -o where none can be" refuses 1 "/nowhere/x.html: No such file" \
    crossplay express:map=tiny --agents random,random --episodes 1 -o /nowhere/x.html
mkdir -m 700 run
endpoint="ipc://$work/run/trainyardd"
"$(dirname "$tool")/trainyardd" --listen "$endpoint" >daemon.txt 2>&1 &
daemon=$!
until grep -qs ready daemon.txt || ! kill -0 $daemon 2>/dev/null; do sleep 0.05; done
run crossplay express:map=tiny --agents random,open --episodes 4 --connect "$endpoint" --start "$tool agent expert" --json
check "crossplay with a program" test "$status" -eq 0
check "crossplay with a program: its cells" same_cells express:map=tiny out expert
kill -TERM $daemon
wait $daemon
check "crossplay without agents" refuses 2 "--agents A,B[,C] is missing" crossplay convoi
check "crossplay of one agent" refuses 2 "1 given, at least 2 wanted" crossplay convoi --agents random
check "crossplay of nobody" refuses 2 "'nobody' does not play convoi" crossplay convoi --agents random,nobody
check "crossplay by an unknown metric" refuses 2 "has no metric 'luck'; there are won, " \
    crossplay convoi --agents random,random --metric luck
check "crossplay of opponents by a metric" refuses 2 "is judged by wins" \
    crossplay express --agents random,random --metric turns

# ---- ladder

ladder=(ladder express:map=tiny --file ladder.json)
check "ladder" accepts "${ladder[@]}" --agents expert,random --episodes 10
check "ladder has the best first" grep -qE "^    1 expert +[0-9]+  \[" out
cp ladder.json first.json
check "ladder shows its file" accepts "${ladder[@]}" --json
check "ladder only shows its file" cmp -s ladder.json first.json
check "ladder --json" python3 -c '
import json
agents = json.load(open("out"))["agents"]
assert [a["agent"] for a in agents] == ["expert", "random"] and abs(sum(a["mean"] for a in agents)) < 1e-6
assert all(a["low"] < a["mean"] < a["high"] and a["seeds"] == 10 for a in agents)'
check "ladder is arena's result" python3 - "$tool" <<'PYTHON'
import json, subprocess, sys
words = [sys.argv[1], "arena", "express:map=tiny", "--agents", "expert,random", "--episodes", "10", "--json"]
expert = json.loads(subprocess.check_output(words))["agents"][0]
(record,) = json.load(open("ladder.json"))["records"]
points = sum(record["values"]) / 40
assert record["agents"] == ["expert", "random"] and abs(points - expert["win"]["mean"] - expert["draw"]["mean"] / 2) < 1e-6
PYTHON
check "ladder plays nothing twice" accepts "${ladder[@]}" --agents random,expert --episodes 5 --seed 2
check "ladder that was played has not changed" cmp -s ladder.json first.json
check "ladder goes on" accepts "${ladder[@]}" --agents expert,random --episodes 20 --seed 5
check "ladder takes a new agent" accepts "${ladder[@]}" --agents expert,random,search:playouts=1 --episodes 4 --seed 23
check "ladder was extended by what was missing" python3 -c '
import json
old, new = (json.load(open(name))["records"] for name in ("first.json", "ladder.json"))
seeds = {}
for record in new:
    seeds.setdefault(tuple(sorted(record["agents"])), []).extend(range(record["seed"], record["seed"] + len(record["values"])))
assert new[0] == old[0] and sorted(seeds.pop(("expert", "random"))) == list(range(27))
assert [sorted(s) for s in seeds.values()] == [[23, 24, 25, 26]] * 2, seeds'
check "ladder of known results" python3 - <<'PYTHON'
import json
head = json.load(open("ladder.json"))
head["records"] = [{"agents": ["strong", "weak"], "seed": 7, "values": [4] * 1000 + [0] * 100}]
json.dump(head, open("known.json", "w"))
PYTHON
check "ladder of agents that are gone" accepts ladder express:map=tiny --file known.json --json
check "ladder: odds of ten to one are 400 points" python3 -c '
import json
strong, weak = json.load(open("out"))["agents"]
assert abs(strong["mean"] - weak["mean"] - 400) < 2, strong
assert abs((strong["high"] - strong["low"]) / 2 - 17.85) < 0.2, strong'
check "ladder of partners" accepts ladder convoi --agents expert,random --episodes 10 --metric goods --file partners.json --json
cp out partners
check "ladder of partners has sim's figures" python3 - "$tool" <<'PYTHON'
import json, subprocess, sys
for agent in json.load(open("partners"))["agents"]:
    words = [sys.argv[1], "sim", "convoi", "--agent", agent["agent"], "--episodes", "10", "--json"]
    goods = json.loads(subprocess.check_output(words))["metrics"]["goods"]
    assert all(abs(agent[key] - goods[key]) < 1e-6 for key in ("mean", "low", "high")), agent
PYTHON
check "ladder by another metric" refuses 1 "partners.json: measure: 'goods', wanted: 'won'" ladder convoi --file partners.json
check "ladder of another ruleset" refuses 1 "ladder.json: ruleset: 'express:map=tiny" ladder express --file ladder.json

# damaged WORD EXPRESSION: the file of the ladder, changed by a statement on `d`, is refused with WORD.
damaged() {
    python3 -c 'import json, sys; d = json.load(open("ladder.json")); exec(sys.argv[1]); json.dump(d, open("damaged.json", "w"))' "$2"
    cp damaged.json before.json
    refuses 1 "$1" ladder express:map=tiny --file damaged.json --agents expert,random && cmp -s damaged.json before.json
}
head -c 300 ladder.json >cut.json
check "ladder of a cut file" refuses 1 "cut.json: line 1: " ladder express:map=tiny --file cut.json --agents expert,random
check "ladder without a format" damaged "format: 'no text'" 'del d["format"]'
check "ladder of other rules" damaged "rules_version" 'd["rules_version"] += 1'
check "ladder without records" damaged "records: not a list" 'd["records"] = {}'
check "ladder with too many points" damaged "records[1].values" 'd["records"][1]["values"][0] = 5'
check "ladder with a fraction" damaged "records[0].values" 'd["records"][0]["values"][0] = 0.5'
check "ladder without values" damaged "records[0].values" 'd["records"][0]["values"] = []'
check "ladder with one opponent" damaged "records[0].agents" 'd["records"][0]["agents"] = ["random"]'
check "ladder of one against itself" damaged "records[0].agents" 'd["records"][0]["agents"] = ["random", "random"]'
check "ladder with a negative seed" damaged "records[0].seed" 'd["records"][0]["seed"] = -1'
check "ladder with seeds twice" damaged "overlaps an earlier record" 'd["records"].append(d["records"][0])'
check "ladder without a file" refuses 2 "--file FILE is missing" ladder express
check "ladder that is empty" refuses 2 "nobody is on the ladder yet" ladder express --file none.json
check "ladder of one" refuses 2 "1 given, at least 2 wanted" ladder express --file none.json --agents random
check "ladder of the same twice" refuses 2 "'random' is there twice" ladder express --file none.json --agents random,random
check "ladder of a program without a name" refuses 2 "'open' has no name" ladder express --file none.json --agents random,open
check "ladder where none can be" refuses 1 "/nowhere/l.json.new: No such file" \
    ladder express:map=tiny --file /nowhere/l.json --agents expert,random --episodes 1

# ---- partners

partners="$(grep -E '^\| (train|validation|held-out) ' "$source/agents/PARTNERS.md" | grep -oE '`expert[^`]*`' | tr -d '`' | paste -sd,)"
check "the partners of the document play" accepts ladder convoi --metric goods --episodes 1 --file all.json --json --agents "$partners"
check "the partners are at least 12 different ones" python3 -c '
import json
assert len(json.load(open("out"))["agents"]) >= 12'
check "partners by skill" accepts ladder convoi --metric goods --episodes 20 --file skills.json --json \
    --agents expert,expert:skill=0.8,expert:skill=0,expert:style=hoarding
check "partners: the more skill the more goods, and a style plays otherwise" python3 -c '
import json
agents = {a["agent"]: a["mean"] for a in json.load(open("out"))["agents"]}
assert agents["expert"] > 6 > agents["expert:skill=0.8"] > 2 > agents["expert:skill=0"], agents
values = {r["agents"][0]: r["values"] for r in json.load(open("skills.json"))["records"]}
assert values["expert"] != values["expert:style=hoarding"]'
check "partner with too much skill" refuses 2 "skill" sim convoi --agent expert:skill=1.5
check "partner of an unknown style" refuses 2 "even, cautious, hasty, hoarding" sim convoi --agent expert:style=bold

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
