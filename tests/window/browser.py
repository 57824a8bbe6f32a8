"""Chromium for the tests of pages: which one, how it is started, and how tests are run.

The first argument of a program that imports this is the build directory, the others name tests.
"""

from __future__ import annotations

import subprocess
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page, sync_playwright

BUILD = Path(sys.argv[1]).resolve()
SOURCE = Path(__file__).resolve().parents[2]
SHOTS = BUILD / "window"
WAIT_MS = 120_000  # for whatever comes within a second on a machine with nothing else to do
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def run(*words: str) -> str:
    tool = [str(BUILD / "trainyard"), *words]
    return subprocess.run(tool, check=True, capture_output=True, text=True).stdout


def new_page(browser: Browser, **options: Any) -> Page:
    """A page of a context of its own, which notes what it asks for and what goes wrong in it.

    Nothing glides in it: what is measured lies there when it is clicked.
    """
    usual = {"viewport": {"width": 1600, "height": 900}, "reduced_motion": "reduce"}
    context = browser.new_context(**{**usual, **options})
    context.set_default_timeout(WAIT_MS)
    page = context.new_page()
    page.asked = []  # type: ignore[attr-defined]
    page.errors = []  # type: ignore[attr-defined]
    page.on("request", lambda request: page.asked.append(request.url))  # type: ignore[attr-defined]
    page.on("pageerror", lambda error: page.errors.append(str(error)))  # type: ignore[attr-defined]
    return page


def main(names: dict[str, Any]) -> int:
    SHOTS.mkdir(exist_ok=True)
    named = sys.argv[2:]
    tests: list[Callable[[Browser], None]] = [
        test
        for name, test in names.items()
        if name.startswith("test_") and (not named or name in named)
    ]
    failed = 0
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=FLAGS)
        for test in tests:
            try:
                test(browser)
                print(f"{test.__name__}: ok")
            except Exception:
                failed += 1
                print(f"{test.__name__}: FAILED\n{traceback.format_exc()}")
        browser.close()
    print(f"{len(tests) - failed} passed, {failed} failed")
    return 1 if failed else 0
