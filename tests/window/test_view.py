#!/usr/bin/env python3
"""The pages of `trainyard view` in a real browser, without a network.

test_view.py BUILD_DIRECTORY [NAME...]: needs playwright, and Debian's chromium.
"""

from __future__ import annotations

import json
import sys
import tempfile
import xml.etree.ElementTree as Tree
from pathlib import Path

from browser import SHOTS, SOURCE, main, new_page, run
from playwright.sync_api import Browser, Page

BOARDS = [
    "convoi",
    "convoi:board=north_america",
    "convoi:board=tiny",
    "nordic",
    "nordic:map=tiny",
    "express",
    "express:map=tiny",
]

# Where a label's box lies on a symbol or on another label: a grid of points, asked what lies there.
OVERLAPS = """() => {
  const symbols = ['.town', '.city', '.space', '.start circle', '.switch circle', '.light circle',
                   '.route rect', '.door circle'].join();
  const meet = (a, b) =>
    a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
  const labels = [...document.querySelectorAll('text.name')];
  const boxes = labels.map((label) => label.getBoundingClientRect());
  const found = [];
  labels.forEach((label, i) => {
    const box = boxes[i];
    boxes.forEach((other, j) => {
      if (j > i && meet(box, other))
        found.push(`${label.textContent} / ${labels[j].textContent}`);
    });
    const under = new Set();
    for (let x = box.left + 2; x < box.right - 2; x += 3)
      for (let y = box.top + 4; y < box.bottom - 4; y += 3)
        for (const element of document.elementsFromPoint(x, y))
          if (element.matches(symbols))
            under.add(element.parentNode.id || element.getAttribute('class'));
    under.forEach((id) => found.push(`${label.textContent} on ${id}`));
  });
  return found;
}"""


def games() -> list[str]:
    return [game["game"] for game in json.loads(run("describe", "--json"))["games"]]


def view(*words: str) -> Path:
    """A page in a temporary file."""
    path = Path(tempfile.mkdtemp(dir=SHOTS)) / "game.html"
    run("view", *words, "--out", str(path))
    return path


def open_page(browser: Browser, path: Path, fragment: str = "") -> Page:
    """The page in a browser that has no network; nothing but the file is asked for."""
    page = new_page(browser, offline=True)
    page.goto(path.as_uri() + fragment)
    return page


def step_of(page: Page) -> int:
    return int(page.inner_text("#at").split("/")[0])


def board_of(page: Page) -> str:
    return page.inner_html("#board")


def test_every_game_can_be_looked_at_without_a_network(browser: Browser) -> None:
    for game in games():
        path = view(game, "--seed", "7")
        page = open_page(browser, path)
        assert page.asked == [path.as_uri()], page.asked
        assert page.inner_text("#about").find(f"{game}") >= 0
        page.keyboard.press("End")
        last = step_of(page)
        assert last > 0 and f"{last} / {last}" == page.inner_text("#at")
        page.screenshot(path=str(SHOTS / f"{game}.png"))
        assert page.asked == [path.as_uri()] and page.errors == [], (page.asked, page.errors)
        page.context.close()


def test_every_control_does_what_it_says(browser: Browser) -> None:
    page = open_page(browser, view("express", "--seed", "3"))
    for press, step in [("#next", 1), ("#next", 2), ("#back", 1), ("#first", 0)]:
        page.click(press)
        assert step_of(page) == step
    page.click("#last")
    last = step_of(page)
    for key, step in [("Home", 0), ("ArrowRight", 1), ("ArrowLeft", 0), ("End", last)]:
        page.keyboard.press(key)
        assert step_of(page) == step
    page.fill("#scrub", "17")
    assert step_of(page) == 17 and page.url.endswith("#step=17")
    page.click("[data-step='5']")
    assert step_of(page) == 5 and page.inner_text("[aria-current]").startswith("5")
    page.select_option("#speed", "600")
    page.keyboard.press("Space")
    for _ in range(600):
        if step_of(page) >= 7:
            break
        page.wait_for_timeout(50)
    assert step_of(page) >= 7
    page.keyboard.press("Space")
    stopped = step_of(page)
    page.wait_for_timeout(200)
    assert step_of(page) == stopped
    page.select_option("#eyes", "1")
    assert step_of(page) == stopped and "seat 0" in page.inner_text("#eyes option:checked")
    with page.expect_download() as download:
        page.click("#save")
    assert Tree.parse(download.value.path()).getroot().tag.endswith("svg")
    assert page.errors == [], page.errors
    page.context.close()


def test_a_link_leads_to_its_moment_and_any_way_there_shows_the_same(browser: Browser) -> None:
    for game in games():
        path = view(game, "--seed", "5")
        walked = open_page(browser, path)
        for _ in range(40):
            walked.keyboard.press("ArrowRight")
        at_40 = board_of(walked)
        for _ in range(15):
            walked.keyboard.press("ArrowRight")
        walked.fill("#scrub", "40")
        assert board_of(walked) == at_40
        jumped = open_page(browser, path, "#step=40")
        assert step_of(jumped) == 40 and board_of(jumped) == at_40
        walked.context.close()
        jumped.context.close()


def test_no_label_lies_on_another_or_on_a_symbol(browser: Browser) -> None:
    overlaps = {}
    for spec in BOARDS:
        page = open_page(browser, view(spec, "--agent", "random"))
        overlaps[spec] = page.evaluate(OVERLAPS)
        page.screenshot(path=str(SHOTS / f"labels-{spec.replace(':', '-').replace('=', '-')}.png"))
        page.context.close()
    assert not any(overlaps.values()), overlaps


def test_a_board_without_coordinates_is_laid_out_without_overlaps(browser: Browser) -> None:
    board = json.loads((SOURCE / "env/games/convoi/data/europe.json").read_text())
    for thing in board["cities"] + board["starts"] + board["junctions"]:
        del thing["xy"]
    path = Path(tempfile.mkdtemp(dir=SHOTS)) / "blank.json"
    path.write_text(json.dumps(board))
    page = open_page(browser, view(f"convoi:board={path}", "--agent", "random"))
    page.screenshot(path=str(SHOTS / "labels-found.png"))
    overlaps = page.evaluate(OVERLAPS)
    assert overlaps == [], overlaps
    page.context.close()


def test_ten_thousand_steps_leave_the_page_as_large_as_it_was(browser: Browser) -> None:
    page = open_page(browser, view("chicago", "--seed", "1"))
    count = "document.getElementsByTagName('*').length"
    before = page.evaluate(count)
    page.evaluate("for (let i = 0; i < 10000; i++) show(i % (last + 1))")
    page.keyboard.press("Home")
    assert page.evaluate(count) == before
    page.context.close()


def test_what_an_agent_thinks_stands_beside_its_choices_as_bars(browser: Browser) -> None:
    page = open_page(browser, view("express:map=tiny", "--agents", "search,expert", "--seed", "3"))
    decisions = page.evaluate("episode.eyes[0].decisions")
    told = next(i for i, decision in enumerate(decisions) if len(decision.get("notes", [])) > 1)
    page.fill("#scrub", str(told))
    assert page.locator("#thoughts").is_visible()
    choices = page.locator("#choices b").all_text_contents()
    assert choices == [note[0] for note in decisions[told]["notes"]]
    assert page.locator("#choices b.taken").all_text_contents() == [decisions[told]["action"]]
    widths = [bar.bounding_box()["width"] for bar in page.locator("#choices i").all()]
    visits = [note[3] for note in decisions[told]["notes"]]
    values = [note[2] for note in decisions[told]["notes"]]
    measure = visits if len(set(visits)) > 1 else values
    assert max(widths) > 20
    assert widths[measure.index(max(measure))] == max(widths) > min(widths), (widths, measure)
    page.screenshot(path=str(SHOTS / "thoughts.png"))
    page.select_option("#eyes", "2")  # another seat knows nothing of them
    assert page.locator("#thoughts").is_hidden()
    silent = next(i for i, decision in enumerate(decisions) if "notes" not in decision)
    page.select_option("#eyes", "0")
    page.fill("#scrub", str(silent))
    assert page.locator("#thoughts").is_hidden()
    assert page.errors == [], page.errors
    page.context.close()


def test_every_game_is_told_in_sentences_with_its_result(browser: Browser) -> None:
    for game in games():
        page = open_page(browser, view(game, "--seed", "7"))
        lines = page.locator("#events button").all_text_contents()
        assert len(lines) == page.evaluate("last") + 1
        assert all(". " in line or line.split(" ")[0] for line in lines)
        assert any("Seat 0: " in line for line in lines) and any("Seat 1" in line for line in lines)
        about = page.inner_text("#about")
        for word in ("ruleset", "seed", "seat 0", "expert"):
            assert word in about, (game, word)
        page.context.close()


def test_a_page_for_one_seat_has_its_eyes_alone(browser: Browser) -> None:
    for game in games():
        page = open_page(browser, view(game, "--seed", "7", "--seat", "1"))
        assert page.locator("#eyes option").all_text_contents() == ["seat 1 (expert)"]
        page.keyboard.press("End")
        assert step_of(page) == page.evaluate("last") > 0
        assert "seed" not in page.evaluate("Object.keys(episode.about)")
        assert page.errors == [], page.errors
        page.context.close()


def test_titles_from_files_are_shown_as_text_and_nothing_else(browser: Browser) -> None:
    board = json.loads((SOURCE / "env/games/convoi/data/tiny.json").read_text())
    board["name"] = "hostile"
    title = "<b>A</b></script><script>top.harmed=1</script>&"
    board["cities"][0]["title"] = title
    path = Path(tempfile.mkdtemp(dir=SHOTS)) / "hostile.json"
    path.write_text(json.dumps(board))
    page = open_page(browser, view(f"convoi:board={path}", "--agent", "random"))
    assert title in page.locator("text.name").all_text_contents()
    assert page.evaluate("top.harmed === undefined") and page.errors == []
    page.context.close()


if __name__ == "__main__":
    sys.exit(main(globals()))
