#!/bin/bash
# trainyard bench: what it prints, and what it leaves behind.
. "$(dirname "$0")/tool.sh"

check "bench --json" accepts bench "$game" --seconds 0.05 --json
check "bench has its keys" python3 - <<'PYTHON'
import json
(entry,) = json.load(open("out"))
for key in ("decisions_per_s", "ns_per_decision", "ref_copy_ns", "ratio", "row_bytes",
            "mask_bytes", "state_bytes", "clone_ns", "step_ns", "legal_ns", "observe_ns",
            "sample_ns", "reset_ns"):
    assert entry[key] > 0, key
assert entry["episodes_per_s"] >= 0 # none may end in so short a time
for key in ("ns_per_decision", "step_ns", "legal_ns", "observe_ns", "sample_ns", "reset_ns", "clone_ns", "ref_copy_ns"):
    assert 0 < entry["low"][key] <= entry[key] and entry["mean"][key] >= entry["low"][key], key
assert entry["decisions"] > 0 and abs(entry["decisions_per_s"] * entry["ns_per_decision"] / 1e9 - 1) < 1e-3
assert len(entry["signature"]) == 16 and entry["ruleset"] and entry["cpu"] and entry["compiler"]
PYTHON
check "bench shows forks" python3 - <<'PYTHON'
import json
(entry,) = json.load(open("out"))
forks = entry["forks"]
assert all(forks[key] > 0 for key in ("saves_per_s", "restores_per_s", "forks_per_s"))
assert forks["rollouts_per_s"]["random"] > 0 and "search" not in forks["rollouts_per_s"]
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
        everything = cells["ipc-all", 1, groups, batch]
        assert everything["reply_bytes"] > 1.5 * ipc["reply_bytes"] - 300 and ipc["of_ipc_all"] > 0
        assert ipc["of_bare_ipc"] > 0 and ipc["of_step_ipc"] > 0 and tcp["of_bare_tcp"] > 0
        assert ipc["decisions_per_s_best"] >= ipc["decisions_per_s"]
        assert bare["rows_per_s_best"] >= bare["rows_per_s"]
for door in ("inproc", "shm", "ipc", "tcp"):
    assert cells[door, 1, 1, 1]["p99_us"] >= cells[door, 1, 1, 1]["p50_us"] > 0
assert pool["slot_bytes"] >= pool["slot_state_bytes"] + pool["slot_rows_bytes"] > 0
assert pool["slots_10000_bytes"] < 64 << 20 and pool["client_bytes"] > 0
PYTHON
check "bench --pool" accepts bench "$game" --seconds 0.01 --pool --doors shm
check "bench --pool measures pools alone" eval '! grep -q "per decision" out && grep -q shm out'
check "bench --doors" accepts bench "$game" --seconds 0.01 --pool --doors inproc
check "bench --doors inproc measures no other door" eval '! grep -qE "shm  |ipc|tcp" out'
check "bench of no such door" refuses 2 "inproc, shm, ipc, tcp" bench "$game" --doors window
check "bench" accepts bench "$game" --seconds 0.01 --doors inproc
check "bench prints the signature" grep -qE "^signature: [0-9a-f]{16}$" out
check "bench of everything" accepts bench --seconds 0.001 --doors inproc
check "bench of everything has every game and map" eval \
    'grep -q "^convoi:board=tiny" out && grep -q "^nordic:map=standard" out && grep -q "^chicago:train=standard" out'
check "bench lists what learners use" grep -q "^convoi:.*reward=progress,hints=true" out
check "bench --agents" accepts bench express chicago --agents --seconds 0.001 --json
check "bench --agents has every agent of every game that needs no file" python3 - "$tool" <<'PYTHON'
import json, subprocess, sys
entries = json.load(open("out"))
assert [e["ruleset"].split(":")[0] for e in entries] == ["express", "chicago"]
for entry in entries:
    text = subprocess.run([sys.argv[1], "describe", entry["ruleset"], "--json"], capture_output=True, check=True).stdout
    agents = json.loads(text)["agents"]
    needed = lambda field: field["kind"] == "file" and "choices" not in field
    names = {a["name"] for a in agents if not any(map(needed, a["fields"]))}
    assert {a["agent"] for a in entry["agents"]} == names and {"expert", "search"} <= names, names
    for agent in entry["agents"]:
        assert agent["decisions"] > 0 and agent["us_per_decision"] > 0 and agent["ratio"] > 0
        assert abs(agent["decisions_per_s"] * agent["us_per_decision"] / 1e6 - 1) < 1e-3
    assert entry["ref_copy_ns"] > 0 and entry["cpu"] and entry["compiler"]
PYTHON
check "bench --agents in words" accepts bench chicago --agents --seconds 0.001
check "bench --agents has a line for each" eval 'grep -qE "^  expert +[0-9.]+" out && grep -qE "^  random +[0-9.]+" out'
check "bench --slots" accepts bench "$game:$key=tiny" --slots --seconds 0.001 --json
check "bench --slots goes from one to a million" python3 - <<'PYTHON'
import json
(entry,) = json.load(open("out"))
assert [size["slots"] for size in entry["sizes"]] == [1, 1000, 1000000]
for size in entry["sizes"]:
    assert size["slot_bytes"] > 0 and size["ns_per_decision"] >= size["ns_per_decision_low"] > 0
    assert size["step_p99_us"] >= size["step_p50_us"] > 0 and size["steps"] >= 4
large = entry["sizes"][2]
assert 0.9 < large["resident_bytes"] / large["slot_bytes"] < 1.1, large
PYTHON
check "bench --draw" accepts bench --draw --seconds 0.001 --json
check "bench --draw measures every game" python3 - <<'PYTHON'
import json
entries = json.load(open("out"))
assert len({entry["ruleset"].split(":")[0] for entry in entries}) >= 4
for entry in entries:
    for kind in ("drawing", "changes"):
        assert entry[kind]["us_median"] >= entry[kind]["us_low"] > 0 and entry[kind]["ratio"] > 0
    assert entry["drawing"]["bytes"] > 10 * entry["changes"]["bytes"] > 0
PYTHON
check "bench --draw in words" accepts bench "$game" --draw --seconds 0.001
check "bench --draw has both" eval 'grep -qE "^  drawing +[0-9.]+" out && grep -qE "^  changes +[0-9.]+" out'
check "bench --compare --json" accepts bench "$game" --seconds 0.001 --compare "$tool" --json
check "bench --compare has its keys" python3 - <<'PYTHON'
import json
(entry,) = json.load(open("out"))
assert entry["turns"] >= 3 and entry["this"]["signature"] == entry["other"]["signature"]
for key in ("ns_per_decision", "step_ns", "pool_1", "pool_1024"):
    cost = entry["ratios"][key]
    assert cost["this_ns"] > 0 and abs(cost["ratio"] * cost["other_ns"] / cost["this_ns"] - 1) < 1e-3
    assert cost["quartile_low"] <= cost["median"] <= cost["quartile_high"]
PYTHON
# A build from before the slices tells means under the names that medians have now.
cat >old <<'OLD'
#!/bin/sh
[ "$*" = "bench convoi --seconds 0.001 --doors inproc --json" ] || exit 1
echo '[{"ns_per_decision": 1e-3, "signature": "0123456789abcdef", "pool": {"rates": [
    {"door": "inproc", "threads": 1, "groups": 1, "batch": 1024, "decisions_per_s": 1e12}]}}]'
OLD
chmod +x old
check "bench --compare with an older build" accepts bench convoi --seconds 0.001 --compare ./old --json
check "bench --compare takes what an older build tells" python3 - <<'PYTHON'
import json
(entry,) = json.load(open("out"))
assert entry["this"]["signature"] != entry["other"]["signature"] == "0123456789abcdef"
assert set(entry["ratios"]) == {"ns_per_decision", "pool_1024"}
assert entry["ratios"]["ns_per_decision"]["other_ns"] == entry["ratios"]["pool_1024"]["other_ns"] == 1e-3
PYTHON
check "bench --compare in words" accepts bench convoi --seconds 0.001 --compare ./old
check "bench --compare says the ratio with its spread" grep -qE "^  decision +[0-9.]+ +[0-9.]+ +[0-9.]+ +[0-9.]+   [0-9.]+ to [0-9.]+$" out
check "bench --compare says whether they play alike" grep -q "they play differently" out
check "bench --compare with no program" refuses 1 "No such file" bench "$game" --seconds 0.001 --compare ./nothing
check "bench --compare with another program" refuses 1 "/bin/true printed no measurements" bench "$game" --seconds 0.001 --compare /bin/true
check "bench --compare with one that fails" refuses 1 "did not measure" bench "$game" --seconds 0.001 --compare /bin/false
check "an interrupted bench leaves neither daemon nor directory" python3 - "$tool" "$game" <<'PYTHON'
import os, signal, subprocess, sys, time
bench = subprocess.Popen([sys.argv[1], "bench", sys.argv[2], "--pool", "--doors", "shm", "--seconds", "3"], stdout=subprocess.DEVNULL)
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

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
