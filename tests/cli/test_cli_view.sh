#!/bin/bash
# Episodes to look at: trainyard view. tests/window looks at the pages in a browser.
. "$(dirname "$0")/tool.sh"

is_svg() {
    python3 -c 'import sys, xml.etree.ElementTree as tree
assert tree.parse(sys.argv[1]).getroot().tag == "{http://www.w3.org/2000/svg}svg"' "$1"
}

# The episode inside a page, as JSON.
episode_of() {
    python3 - "$1" >"$2" <<'PYTHON'
import json, re, sys
page = open(sys.argv[1]).read()
text = re.search(r'<script id="episode" type="application/json">(.*?)</script>', page, re.S).group(1)
print(json.dumps(json.loads(text)))
PYTHON
}

check "view" accepts view "$game" --seed 7 -o page.html
check "view says what it wrote" grep -q "^page.html: [0-9]* decisions" out
check "a page asks for nothing" grep -q "default-src 'none'" page.html
check "a page has its episode" episode_of page.html episode.json
check "a page is below 1 MB" [ "$(stat -c %s page.html)" -lt 1000000 ]
check "view without a place" accepts view "$game" --agent random
check "has the game's name" [ -s "$game.html" ]
check "a position" accepts view "$game" --seed 7 --step 20 --out position.svg
check "is an SVG" is_svg position.svg
for spec in $("$tool" describe --json | python3 -c 'import json, sys
print(*[game["game"] for game in json.load(sys.stdin)["games"]])'); do
    check "$spec: view" accepts view "$spec" --agent random --seed 3 -o "$spec.html"
    check "$spec: every eye sees every step" python3 - <(episode_of "$spec.html" /dev/stdout) <<'PYTHON'
import json, sys
episode = json.load(open(sys.argv[1]))
assert len(episode["eyes"]) >= 3
for eye in episode["eyes"]:
    assert len(eye["steps"]) == len(eye["events"]) == len(eye["decisions"]) > 0
PYTHON
    check "$spec: a position" accepts view "$spec" --agent random --seed 3 --step 11 -o "$spec.svg"
    check "$spec: is an SVG" is_svg "$spec.svg"
done

# What one seat may know: compared with the page that holds everything.
check "a page for one seat" accepts view nordic --seed 5 --seat 0 -o mine.html
check "and one for all" accepts view nordic --seed 5 -o all.html
check "hidden cards are not in its bytes" python3 - mine.html <(episode_of mine.html /dev/stdout) <(episode_of all.html /dev/stdout) <<'PYTHON'
import json, sys
mine = open(sys.argv[1]).read()
own, all = (json.load(open(path)) for path in sys.argv[2:])
assert len(own["eyes"]) == 1 and own["eyes"][0] == all["eyes"][1]
assert "seed" in all["about"] and "seed" not in own["about"]
told = lambda eye: {text for step in [eye["before"], *eye["events"]] for text in step}
secret = told(all["eyes"][0]) - told(all["eyes"][1])
assert any(text.startswith("seat 1 is dealt ") for text in secret), secret
assert any(text.startswith("seat 1 is offered ") for text in secret), secret
assert not [text for text in secret if text in mine]
for theirs, ours in zip(all["eyes"][0]["decisions"], own["eyes"][0]["decisions"], strict=True):
    assert (theirs == ours) if theirs["seat"] == 0 else ("action" in theirs and ours == {"seat": 1})
PYTHON
check "a drawing for one seat" accepts view nordic --seed 5 --step 30 --seat 0 -o mine.svg
check "a drawing of everything" accepts view nordic --seed 5 --step 30 -o all.svg
check "are not the same" eval '! cmp -s mine.svg all.svg'
check "a seat that is not there" refuses 2 "--seat: 2 is out of range; allowed is 0..1" view nordic --seed 5 --seat 2 -o x.html

# What agents think of their choices.
check "search tells what it thinks" accepts view express:map=tiny --agents search,expert --seed 3 -o thoughts.html
check "on the page" python3 - <(episode_of thoughts.html /dev/stdout) <<'PYTHON'
import json, sys
everything, first, second = json.load(open(sys.argv[1]))["eyes"]
notes = [decision["notes"] for decision in everything["decisions"] if "notes" in decision]
assert notes and all(decision["seat"] == 0 for decision in everything["decisions"] if "notes" in decision)
assert all(len(note) == 4 and note[1] is None and note[3] > 0 for told in notes for note in told)
assert [d.get("notes") for d in first["decisions"]] == [d.get("notes") for d in everything["decisions"]]
assert not any("notes" in decision for decision in second["decisions"])
PYTHON
check "in a trace" accepts trace express:map=tiny --agent search --notes --no-state
check "with an object for each legal action" python3 - out <<'PYTHON'
import json, sys
lines = [json.loads(line) for line in open(sys.argv[1])]
told = [line for line in lines if "notes" in line]
assert told
for line in told:
    assert {note["action"] for note in line["notes"]} == set(line["legal"]) and line["action"] in line["legal"]
    assert all(note["visits"] > 0 and "value" in note and "probability" not in note for note in line["notes"])
PYTHON
cp out notes.jsonl
check "a trace with notes is a script" accepts trace --script notes.jsonl --no-state
check "without notes nothing is told" eval '! grep -q notes out'
check "in a log" accepts sim express:map=tiny --agents search,random --episodes 2 --log noted --notes
check "the log agrees" accepts replay verify noted
check "and can be looked at" accepts view noted/episodes-000001.tylog -o noted.html
check "with what search thinks" grep -q '"notes":\[\[' noted.html
check "notes without a log" refuses 2 "--notes: they go into a log; give --log as well" sim express --notes --episodes 1

check "a log" accepts sim "$game" --agent random --episodes 3 --log log
check "an episode of a log" accepts view log/episodes-000001.tylog --episode 2 -o logged.html
check "has the agents of the log" grep -q '"seat 0":"random"' logged.html
check "an episode that is not there" refuses 1 "has no episode 9; it has 3" view log/episodes-000001.tylog --episode 9
check "a log that is none" refuses 1 "page.tylog" view page.tylog
check "a step that is not there" refuses 1 "the episode has" view "$game" --agent random --step 999999 -o x.svg
check "a place that cannot be written" refuses 1 "/nowhere/page.html" view "$game" --agent random -o /nowhere/page.html
check "an open seat" refuses 2 "open seat" view "$game" --agents open,random
check "an unknown short option" refuses 2 "unknown option '-x'" view "$game" -x 3
check "a short option without its value" refuses 2 "--out needs a value" view "$game" -o

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
