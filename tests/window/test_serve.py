#!/usr/bin/env python3
"""The pages of `trainyard serve` in a real browser: playing, watching, and who may not.

test_serve.py BUILD_DIRECTORY [NAME...]: needs playwright, pyzmq, msgpack, and Debian's chromium.
"""

from __future__ import annotations

import contextlib
import http.client
import http.server
import json
import random
import shlex
import socket
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from browser import BUILD, SHOTS, WAIT_MS, main, new_page, run
from playwright.sync_api import Browser, CDPSession, Page

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "daemon"))
from daemon_client import Client, Daemon

QUICK = "express:map=tiny"
DECISIONS_MAX = 400


class Server:
    """`trainyard serve` on a free port."""

    def __init__(self, *words: str, **how: Any) -> None:
        command = [str(BUILD / "trainyard"), "serve", *words, "--http", "127.0.0.1:0"]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, **how)
        assert self.process.stdout
        self.url = self.process.stdout.readline().split()[1]
        self.host = urlsplit(self.url).netloc
        self.token = self.url.partition("#token=")[2]

    def ask(
        self,
        path: str,
        body: Any = None,
        method: str = "",
        token: str | None = None,
        **headers: str,
    ) -> tuple[int, Any]:
        """A request as a page would send it, or as it would not."""
        connection = http.client.HTTPConnection(self.host, timeout=30)
        sent = {
            "Host": self.host,
            "Authorization": f"Bearer {self.token if token is None else token}",
        }
        if body is not None:
            sent["Content-Type"] = "application/json"
        sent |= {name.replace("_", "-"): value for name, value in headers.items()}
        text = body if isinstance(body, str) else None if body is None else json.dumps(body)
        connection.request(method or ("GET" if body is None else "POST"), path, text, sent)
        answer = connection.getresponse()
        said = answer.read()
        connection.close()
        return answer.status, json.loads(said) if said.startswith(b"{") else said

    def tables(self) -> list[Any]:
        return list(self.ask("/api/yard")[1]["tables"])

    def stop(self) -> None:
        self.process.terminate()
        assert self.process.wait(20) == 0


@contextlib.contextmanager
def serving(*words: str, **how: Any) -> Iterator[Server]:
    server = Server(*words, **how)
    try:
        yield server
        server.stop()
    finally:
        server.process.kill()


def open_table(server: Server, ruleset: str, *seats: str) -> int:
    status, answer = server.ask("/api/open", {"ruleset": ruleset, "seats": seats})
    assert status == 200, answer
    return int(answer["table"])


def sit_down(browser: Browser, url: str, **options: Any) -> Page:
    page = new_page(browser, **options)
    page.goto(url)
    page.wait_for_selector("#table[data-state]")
    return page


def state_of(page: Page) -> str:
    return page.get_attribute("#table", "data-state") or ""


def turn_of(page: Page) -> int:
    return int(page.get_attribute("#table", "data-turn") or -1)


def decided(page: Page, turn: int) -> None:
    """Waits until a decision has been taken and the next question, or the end, is shown."""
    page.wait_for_selector(f"#table:not([data-turn='{turn}'])")


# The middles of the shapes that stand for an action and lie under no other part there.
POINTS = """() => {
  const root = document.querySelector("#board").shadowRoot;
  const middle = (box) => [box.x + box.width / 2, box.y + box.height / 2];
  const shapes = [...root.querySelectorAll("g[data-act] > :is(rect, circle, path)")];
  return shapes.map((shape) => middle(shape.getBoundingClientRect()))
    .filter(([x, y]) => root.elementFromPoint(x, y)?.closest("g[data-act]"));
}"""


# How many nodes the page and its boards show. What lives besides these is forgotten ones.
ATTACHED = """() => {
  const count = (node) => [...node.childNodes, ...(node.shadowRoot ? [node.shadowRoot] : [])]
    .reduce((sum, inner) => sum + count(inner), 1);
  return count(document);
}"""


def click_board(page: Page, chance: random.Random) -> None:
    """Chooses on the board: where a part stands for several actions, one of them in the list."""
    turn = turn_of(page)
    page.mouse.click(*chance.choice(page.evaluate(POINTS)))
    page.wait_for_selector(
        f"#table:not([data-turn='{turn}']), #picked:not([hidden])", state="attached"
    )
    if page.is_visible("#picked"):
        page.click("#choices button")
    decided(page, turn)


def click_list(page: Page, chance: random.Random) -> None:
    turn = turn_of(page)
    buttons = page.locator("#choices button")
    buttons.nth(chance.randrange(buttons.count())).click()
    decided(page, turn)


def test_a_table_is_opened_in_the_page_and_played_to_its_end_by_clicks(browser: Browser) -> None:
    chance = random.Random(3)
    with serving() as server:
        page = new_page(browser)
        page.goto(server.url)
        page.select_option("#game", "express")
        page.select_option("#fields select", "tiny")
        page.screenshot(path=str(SHOTS / "serve-yard.png"))
        page.click("#form button.do")
        page.wait_for_selector("#table[data-state=mine]")
        for _ in range(DECISIONS_MAX):
            page.wait_for_selector("#table:not([data-state=theirs])")
            if state_of(page) == "over":
                break
            click_board(page, chance)
        assert state_of(page) == "over" and page.inner_text("#status") == "The game is over."
        assert page.locator("#result tr").count() > 1
        assert page.locator("#story li").count() > 0
        page.screenshot(path=str(SHOTS / "serve-over.png"))
        page.click("#again")
        page.wait_for_selector("#table:not([data-state=over])")
        assert page.errors == [] and all(
            server.host in url or url == "data:," for url in page.asked
        )
        page.context.close()


def test_search_is_asked_and_decisions_are_taken_back(browser: Browser) -> None:
    with serving() as server:
        table = open_table(server, QUICK, "me", "expert")
        page = sit_down(browser, f"{server.url}&table={table}")
        page.wait_for_selector("#table[data-state=mine]")
        before = page.inner_html("#board div")
        names = page.locator("#choices button > span:first-child").all_inner_texts()
        page.click("#think")
        page.wait_for_selector("#choices meter")
        assert page.locator("#choices meter").count() == len(names)
        page.screenshot(path=str(SHOTS / "serve-search.png"))
        turn = turn_of(page)
        page.click("#choices button")
        decided(page, turn)
        page.wait_for_selector("#table[data-state=mine] #back:enabled")
        turn = turn_of(page)
        page.click("#back")
        decided(page, turn)
        assert page.locator("#choices button > span:first-child").all_inner_texts() == names
        page.mouse.move(0, 0)
        assert page.inner_html("#board div") == before
        page.context.close()


def test_two_people_in_two_browsers_and_two_agents_at_one_table(browser: Browser) -> None:
    chance = random.Random(5)
    with serving() as server:
        table = open_table(server, f"{QUICK},players=4", "me", "guest", "expert", "random")
        host = sit_down(browser, f"{server.url}&table={table}")
        invitation = host.input_value("#sitting li:nth-child(2) input")
        other = browser.browser_type.launch(
            executable_path="/usr/bin/chromium", args=["--no-sandbox"]
        )
        guest = sit_down(other, invitation, color_scheme="dark")
        watcher = sit_down(other, host.input_value("#sitting li:last-child input"))
        played = {host: 0, guest: 0}
        while any(state_of(page) != "over" for page in played):
            turns = {page: state_of(page) for page in played}
            assert list(turns.values()).count("mine") <= 1
            for page, state in turns.items():
                if state == "mine":
                    click_list(page, chance)
                    played[page] += 1
            assert sum(played.values()) <= DECISIONS_MAX, played
            host.wait_for_timeout(20)
        assert min(played.values()) > 1, played
        watcher.wait_for_selector("#table[data-state=over]")
        assert watcher.locator("#board [data-act]").count() == 0
        guest.screenshot(path=str(SHOTS / "serve-guest.png"))
        for page in (host, guest, watcher):
            assert page.errors == [], page.errors
        host.context.close()
        other.close()


def test_a_guest_has_its_own_seat_and_no_more(browser: Browser) -> None:
    with serving() as server:
        table = open_table(server, "nordic:map=tiny", "me", "guest")
        other = open_table(server, QUICK, "me", "expert")
        seats = server.tables()[0]["seats"]
        guest = seats[1]["token"]
        assert "token" not in seats[0]
        told = server.ask("/api/yard", token=guest)[1]
        assert [one["table"] for one in told["tables"]] == [table] and "pools" not in told
        assert guest not in json.dumps(told) and "spectator" not in told["tables"][0]
        for path in ("open", "close", "back", "again", "watch"):
            assert server.ask(f"/api/{path}", {"table": table}, token=guest)[0] == 403, path
        for wrong in ({"table": other}, {"table": table, "turn": 7}):
            body = {"action": 0, "turn": 0} | wrong
            assert server.ask("/api/act", body, token=guest)[0] == 400
        assert server.ask(f"/api/stream?table={other}", token=guest)[0] == 400
        # Both hands are hidden: neither page shows what the other one does.
        pages = [sit_down(browser, f"{server.url}&table={table}")]
        pages.append(sit_down(browser, f"http://{server.host}/#token={guest}"))
        assert pages[0].inner_html("#board div") != pages[1].inner_html("#board div")
        assert sorted(state_of(page) for page in pages) == ["mine", "theirs"]
        for page in pages:
            page.context.close()


def test_an_outside_program_takes_a_seat(browser: Browser) -> None:
    chance = random.Random(7)
    with serving() as server:
        table = open_table(server, QUICK, "me", "program")
        page = sit_down(browser, f"{server.url}&table={table}")
        command = page.input_value("#sitting li:nth-child(2) input").replace("NAME", "random")
        words = [str(BUILD / "trainyard"), *shlex.split(command)[1:]]
        program = subprocess.Popen(words, stdout=subprocess.DEVNULL)
        for _ in range(DECISIONS_MAX):
            page.wait_for_selector("#table:not([data-state=theirs])")
            if state_of(page) == "over":
                break
            click_list(page, chance)
        assert state_of(page) == "over"
        assert server.ask("/api/close", {"table": table})[0] == 200
        assert program.wait(20) == 0
        page.wait_for_selector("#trouble:has-text('closed')")
        page.context.close()


def step(director: Client, opened: dict[str, Any], slots: int) -> None:
    actions = struct.pack(f"<{slots}i", *[0] * slots)
    director.call("step", pool=opened["pool"], actions=actions)


def size_of(page: Page, tools: CDPSession) -> tuple[int, int]:
    """Nodes that the page no longer shows, and the bytes of its heap, after a collection."""
    sizes = []
    for _ in range(5):
        tools.send("HeapProfiler.collectGarbage")
        metrics = tools.send("Performance.getMetrics")["metrics"]
        now = {metric["name"]: int(metric["value"]) for metric in metrics}
        sizes.append((now["Nodes"] - page.evaluate(ATTACHED), now["JSHeapUsedSize"]))
        page.wait_for_timeout(100)
    return min(sizes)


def test_a_pool_is_watched_as_its_director_allows_and_a_page_does_not_grow(
    browser: Browser,
) -> None:
    slots = 4
    daemon = Daemon()
    director = Client(daemon.endpoint)
    how = {"slots": slots, "illegal": "random_legal", "plain_seeds": True}
    opened = director.call("open", ruleset=QUICK, watch="public", **how)
    silent = director.call("open", ruleset=QUICK, **how)
    director.call("reset", pool=opened["pool"])
    with serving(daemon.endpoint) as server:
        pools = {pool["pool"]: pool for pool in server.ask("/api/yard")[1]["pools"]}
        assert pools[opened["pool"]]["watch"] and not pools[silent["pool"]]["watch"]
        assert server.ask(f"/api/stream?pool={silent['pool']}&slots=0")[0] == 400
        wrong = {"pool": silent["pool"], "token": opened["watch"]}
        assert server.ask("/api/watch", wrong)[0] == 400
        assert server.ask("/api/watch", wrong | {"pool": opened["pool"]})[0] == 200
        page = new_page(browser)
        page.goto(server.url)
        page.click(f"#pools li:has-text('pool {opened['pool']},') button")
        page.wait_for_selector("#wall > div:nth-child(4) svg")
        assert page.locator("#wall svg").count() == slots
        tools = page.context.new_cdp_session(page)
        tools.send("Performance.enable")
        sizes = []
        for _ in range(2):
            for _ in range(5000):
                step(director, opened, slots)
            for slot in range(slots):
                which = {"pool": opened["pool"], "token": opened["watch"], "slot": slot}
                drawing = director.call("watch", **which)["svg"]
                shows(page, f"#wall > div:nth-child({slot + 1}) div div", drawing)
            sizes.append(size_of(page, tools))
        page.screenshot(path=str(SHOTS / "serve-wall.png"))
        assert sizes[1][0] <= sizes[0][0] + 20 and sizes[1][1] < sizes[0][1] + 500_000, sizes
        assert page.errors == [], page.errors
        page.context.close()
    director.close()
    daemon.stop()


def shows(page: Page, place: str, drawing: str) -> None:
    """Waits until the place shows this drawing, as the browser itself would write it."""
    browser = page.context.browser
    assert browser
    plain = new_page(browser)
    plain.set_content(f"<div id=drawing>{drawing}</div>")
    wanted = plain.inner_html("#drawing")
    plain.context.close()
    until = time.monotonic() + WAIT_MS / 1000
    while page.inner_html(place) != wanted:
        assert time.monotonic() < until, "the page shows another position"
        page.wait_for_timeout(50)


def drawing_of(ruleset: str, step: int) -> str:
    path = SHOTS / f"shown-{step}.svg"
    run("view", ruleset, "--step", str(step), "--out", str(path))
    return path.read_text()


def test_drawings_of_another_program_are_shown(browser: Browser) -> None:
    with serving("--show", stdin=subprocess.PIPE) as server:
        assert server.process.stdin
        page = new_page(browser)
        page.goto(f"{server.url}&shown=1")
        for step in (0, 9):
            drawing = drawing_of("chicago", step)
            server.process.stdin.write(drawing)
            server.process.stdin.flush()
            page.wait_for_selector("#wall svg")
        shows(page, "#wall div div div", drawing)
        page.context.close()


def test_hostile_requests_do_nothing(browser: Browser) -> None:
    order = {"ruleset": QUICK, "seats": ["me", "expert"]}
    with serving() as server:
        for status, how in [
            (401, {"token": ""}),
            (401, {"token": "0" * 32}),
            (401, {"token": server.token[:-1]}),
            (403, {"Origin": "https://evil.example"}),
            (403, {"Origin": "null"}),
            (403, {"Host": "evil.example"}),
            (403, {"Host": "127.0.0.1:1"}),
            (403, {"Sec_Fetch_Site": "cross-site"}),
            (415, {"Content_Type": "text/plain"}),
            (405, {"method": "PUT"}),
        ]:
            assert server.ask("/api/open", order, **how)[0] == status, how
        for status, path, body in [
            (413, "/api/open", order | {"more": "x" * 20000}),
            (400, "/api/open", "{"),
            (400, "/api/open", "[" * 100),
            (400, "/api/open", order | {"ruleset": "nosuchgame"}),
            (400, "/api/open", order | {"seats": ["me"] * 9}),
            (400, "/api/open", order | {"seats": ["me", "nobody"]}),
            (400, "/api/act", {"table": 1, "action": 0, "turn": 0}),
            (404, "/api/nothing", {}),
        ]:
            assert server.ask(path, body)[0] == status, (path, body)
        assert server.ask("/api/open")[0] == 405  # no GET does anything
        assert server.ask("/../etc/passwd")[0] == 404
        assert server.tables() == []
        idle = [
            socket.create_connection(("127.0.0.1", int(server.host.split(":")[1])))
            for _ in range(100)
        ]
        for one in idle:
            one.close()
        elsewhere(browser, server, order)
        assert server.tables() == []
        assert server.ask("/api/open", order)[0] == 200
    refused = subprocess.run(
        [str(BUILD / "trainyard"), "serve", "--http", "0.0.0.0:0"], capture_output=True, text=True
    )
    assert refused.returncode == 2 and "reverse proxy" in refused.stderr


def elsewhere(browser: Browser, server: Server, order: Any) -> None:
    """A page of another origin sends what it can, with the token even."""
    quiet = type("Quiet", (http.server.SimpleHTTPRequestHandler,), {"log_message": lambda *_: None})
    stranger = http.server.ThreadingHTTPServer(("127.0.0.1", 0), quiet)
    threading.Thread(target=stranger.serve_forever, daemon=True).start()
    page = new_page(browser)
    page.goto(f"http://127.0.0.1:{stranger.server_address[1]}/")
    sent = page.evaluate(
        """async ([url, token, body]) => {
          const headers = { Authorization: "Bearer " + token };
          const tries = [
            { method: "POST", mode: "no-cors", body },
            { method: "POST", body, headers: { ...headers, "Content-Type": "application/json" } },
            { method: "GET", headers },
          ];
          const size = async (how) => (await (await fetch(url, how)).text()).length;
          return Promise.all(tries.map((how) => size(how).catch(() => -1)));
        }""",
        [f"http://{server.host}/api/open", server.token, json.dumps(order)],
    )
    assert sent == [-1, -1, -1], sent
    page.context.close()
    stranger.shutdown()


if __name__ == "__main__":
    sys.exit(main(globals()))
