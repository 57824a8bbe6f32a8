#!/usr/bin/env bash
# Checks traces of Convoi Express against the referee, over rulesets that use every setting.
# usage: run.sh BUILD_DIR [EPISODES]
# EPISODES is how many random episodes each ruleset gets; episodes that the driver steers are as
# many for all modes together. One line is printed per trace, then the rules that were never used
# and "N passed, N failed". The status is 1 if anything failed.
set -u -o pipefail

if [ $# -lt 1 ]; then
    echo "usage: run.sh BUILD_DIR [EPISODES]" >&2
    exit 2
fi
cli=$1/trainyard
episodes=${2:-24}
here=$(cd "$(dirname "$0")" && pwd)
data=$here/../../env/games/convoi/data
own=$here/data
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0
failed=0

# Checks $work/trace, which was written for the label $1; $2 is the status of the writer.
check() {
    local result
    if result=$(python3 "$here/convoi_oracle.py" --board-dir "$data" --board-dir "$own" \
        --coverage "$work/coverage.json" <"$work/trace" 2>&1) && [ "$2" -eq 0 ]; then
        passed=$((passed + 1))
        echo "ok      $1: $result"
    else
        failed=$((failed + 1))
        echo "FAILED  $1: $result"
        cat "$work/error"
    fi
}

# Plays ruleset $2 with agent $1.
agent() {
    "$cli" trace "$2" --agent "$1" --seed 1 --episodes "$episodes" >"$work/trace" 2>"$work/error"
    check "$1 ${2//$own\//}" $?
}

# Plays $3 episodes of ruleset $2 as the driver steers them in mode $1; the rest goes to the driver.
driven() {
    local mode=$1 ruleset=$2 count=$3
    shift 3
    python3 "$here/drive.py" "$ruleset" --mode "$mode" --episodes "$count" --board-dir "$data" \
        --board-dir "$own" "$@" >"$work/actions" 2>"$work/error" &&
        "$cli" trace "$ruleset" --script "$work/actions" >"$work/trace" 2>"$work/error"
    check "driven ($mode) ${ruleset//$own\//}" $?
}

rulesets=(
    convoi:board=europe
    convoi:board=north_america
    convoi:board=tiny
    convoi:board=europe,players=3,placement=free,starts=shuffled
    convoi:board=north_america,players=4,placement=free,extra_light=true,hands=hidden
    convoi:board=tiny,players=4,placement=free,first_player=random,reward=delivery
    convoi:board=europe,placement=random,extra_light=true,goods=10,clock=8
    convoi:board=north_america,placement=random,starts=drawn,goods=10,removed=0,clock=10
    convoi:board=tiny,players=3,placement=random,starts=drawn,extra_light=true,goods=10,removed=0
    convoi:board=europe,players=4,starts=drawn,extra_light=true,removed=1,first_player=random
    convoi:board=north_america,players=3,starts=shuffled,removed=8,clock=9,extra_light=true
    convoi:board=tiny,players=4,starts=shuffled,removed=5,hands=hidden,reward=delivery
    convoi:board=europe,ask_forced=true
    convoi:board=north_america,ask_forced=true,placement=random,starts=drawn
    convoi:board=tiny,players=3,ask_forced=true,placement=free,first_player=random,extra_light=true
    convoi:board=europe,chance=seat,placement=random,starts=shuffled,first_player=random
    convoi:board=north_america,chance=seat,starts=drawn
    "convoi:board=$own/odd.json,goods=10"
    "convoi:board=$own/odd_america.json,placement=random"
    "convoi:deck=$own/mixed.json,board=north_america,removed=0"
    "convoi:deck=$own/mixed.json,board=$own/odd.json,starts=drawn,ask_forced=true,removed=1"
    "convoi:deck=$own/flood.json,board=$own/odd.json,starts=drawn,removed=0,clock=10"
)
steered=(
    convoi:board=europe
    convoi:board=north_america
    convoi:board=tiny,reward=delivery
    convoi:board=europe,players=3,goods=10,removed=0,clock=10,reward=delivery
    convoi:board=north_america,goods=10,removed=0,clock=10,starts=drawn,extra_light=true
    convoi:board=tiny,players=4,goods=10,removed=0,first_player=random,ask_forced=true
    convoi:board=europe,placement=free,starts=drawn,removed=0,clock=10
    "convoi:board=$own/odd.json,removed=0,goods=10"
    "convoi:board=$own/odd_america.json,removed=0,goods=10"
    "convoi:deck=$own/mixed.json,board=north_america,removed=0,clock=10"
)
winnable=(
    convoi:board=europe,removed=0,clock=10
    convoi:board=north_america,removed=0,clock=10
    convoi:board=europe,goods=10,removed=0,clock=10,extra_light=true
    convoi:board=north_america,goods=10,removed=0,clock=10,extra_light=true
    convoi:board=tiny,goods=10,reward=delivery
)

agents=(random)
if "$cli" describe convoi 2>/dev/null | grep '^  expert ' >/dev/null; then
    agents+=(expert)
fi
for name in "${agents[@]}"; do
    for ruleset in "${rulesets[@]}"; do
        agent "$name" "$ruleset"
    done
done
quarter=$(((episodes + 3) / 4))
for ruleset in "${steered[@]}"; do
    for mode in deliver careless crash crowd; do
        driven "$mode" "$ruleset" "$quarter"
    done
done
driven hoard convoi:board=europe,goods=10,removed=0,clock=10,extra_light=true $((episodes / 2))
for ruleset in "${winnable[@]}"; do
    driven deliver "$ruleset" $(((episodes + 11) / 12)) --won
done

python3 "$here/convoi_oracle.py" --report "$work/coverage.json"
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
