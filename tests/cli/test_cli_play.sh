#!/bin/bash
# trainyard play at a terminal: colours, groups of choices, sentences.
. "$(dirname "$0")/tool.sh"

# Plays at a terminal of 80 columns: the lines of the first argument are typed, one for each prompt.
# What was shown goes to `out`.
at_terminal() {
    python3 - "$tool" "$@" >out <<'PYTHON'
import fcntl, os, pty, select, struct, sys, termios
tool, typed, *words = sys.argv[1:]
pid, terminal = pty.fork()
if pid == 0:
    os.execv(tool, [tool, *words])
fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 80, 0, 0))
lines, shown = typed.split("|"), b""
while True:
    if not select.select([terminal], [], [], 60)[0]:
        sys.exit("no prompt within a minute")
    try:
        part = os.read(terminal, 65536)
    except OSError:
        break
    if not part:
        break
    shown += part
    if shown.endswith(b"> ") and lines:
        os.write(terminal, lines.pop(0).encode() + b"\n")
sys.stdout.write(shown.decode().replace("\r\n", "\n"))
PYTHON
}

export TERM=xterm-256color
unset NO_COLOR COLORTERM
check "play at a terminal" at_terminal "q" play convoi --seed 7
check "has colours" grep -q $'\033\[38;5;' out
check "has titles instead of ids" grep -q "Frankfort-sur-le-Main" out
check "shows few choices one by one" grep -qE "^ +2\) black 1; rolls 2-3-3-4-4-5" out
check "shows many choices as a group" grep -qE "^ +6\) Turn a switch: .*: 59 choices" out
check "with 24-bit colours" eval 'COLORTERM=truecolor at_terminal "q" play convoi --seed 7 && grep -q $'"'\033\\[38;2;'"' out'
check "without colours" eval 'NO_COLOR=1 at_terminal "q" play convoi --seed 7 && ! grep -q $'"'\033'"' out'
check "on a terminal without colours" eval 'TERM=dumb at_terminal "q" play convoi --seed 7 && ! grep -q $'"'\033'"' out'
export NO_COLOR=1
check "a switch by its junction" at_terminal "switch|1|back|18|1|1|q" play convoi --seed 7
check "the junctions are asked for first" grep -qE "^ +1\) Bruxelles: 5 choices" out
check "then the ways" grep -qE "^ +1\) Bruxelles: Calais–Amsterdam \[switch bruxelles calais\+amsterdam\]$" out
check "back leads up" [ "$(grep -cE "^ +1\) Bruxelles: 5 choices" out)" -eq 2 ]
check "what was done is a sentence" grep -qx "  \* Seat 0 sets switch Zurich to Genève–Épinal\." out
check "a group by a part of its name" at_terminal "switch zurich|q" play convoi --seed 7
check "the board again" at_terminal "m|q" play chicago --seed 7
check "is the same" [ "$(grep -c "^ ⣤⣤⣤⣤⣤" out)" -eq 2 ]
check "the position in words" at_terminal "t|q" play convoi --seed 7
check "has everything" grep -q "^Switches (the two directions that each joins): " out
check "plain" at_terminal "q" play convoi --seed 7 --plain
check "has no drawing" eval '! grep -q "⣿" out && grep -q "^Switches (the two directions" out'
check "what comes of a move is told with it" at_terminal "$(printf '1|%.0s' $(seq 60))q" play convoi --seed 7 --seats human,random
check "lost tokens are told" grep -qE "tokens lost, [0-9]+ left" out
for game in convoi nordic express chicago; do
    check "$game: 80 columns suffice" python3 - "$game" <(at_terminal "1|1|1|1|1|1|q" play "$game" --seed 3 && cat out) <<'PYTHON'
import sys
text = open(sys.argv[2], encoding="utf-8").read().split("\n")
text = [line for line in text if not line.startswith("> ")]
assert max(map(len, text)) <= 80, max(text, key=len)
PYTHON
done

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
