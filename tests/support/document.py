"""Documents whose Python is run: each block prints what the block of text behind it shows.

    python tests/support/document.py FILE [--without MODULE]...

runs a document and fails where it prints something else. Blocks that import a MODULE are left out,
and named.
"""

from __future__ import annotations

import argparse
import contextlib
import difflib
import io
import re
import sys
from pathlib import Path

BLOCK = re.compile(r"```python\n(.*?)```\n(?:\n```text\n(.*?)```\n)?", re.DOTALL)


def played(text: str, name: str, without: tuple[str, ...] = ()) -> str:
    """The document with the output of each block behind it."""
    names: dict[str, object] = {}

    def play(block: re.Match[str]) -> str:
        for module in without:
            if re.search(rf"^(from|import) {module}\b", block[1], re.MULTILINE):
                print(f"{name}: without the block that needs {module}")
                return block[0]
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            exec(compile(block[1], name, "exec"), names)
        code = f"```python\n{block[1]}```\n"
        return code + (f"\n```text\n{said.getvalue()}```\n" if said.getvalue() else "")

    return BLOCK.sub(play, text)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("file", type=Path)
    parser.add_argument("--without", action="append", default=[], metavar="MODULE")
    given = parser.parse_args()
    text = given.file.read_text()
    assert BLOCK.search(text), f"{given.file} has no Python"
    now = played(text, str(given.file), tuple(given.without))
    sys.stdout.writelines(
        difflib.unified_diff(text.splitlines(True), now.splitlines(True), "shown", "printed")
    )
    return int(now != text)


if __name__ == "__main__":
    sys.exit(main())
