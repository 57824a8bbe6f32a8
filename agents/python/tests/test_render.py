"""Drawings: through every backend, as pixels, in notebooks and by the frameworks' render()."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
import webbrowser
import xml.etree.ElementTree as Tree
from pathlib import Path

import gymnasium
import numpy as np
import pytest
import trainyard
import trainyard.gym
import trainyard.pettingzoo


@pytest.mark.parametrize("game", [game.name for game in trainyard.games()])
def test_a_drawing_is_the_same_through_every_backend(game: str) -> None:
    drawings = []
    for backend in ("inproc", "shm", "zmq"):
        with trainyard.make(game, num_envs=2, seed=5, backend=backend) as pool:
            for _ in range(7):
                pool.step(pool.sample(seed=1))
            drawings.append([pool.svg(1), pool.svg(1, 0), pool.svg(1, everything=True)])
    assert drawings[0] == drawings[1] == drawings[2]
    assert Tree.fromstring(drawings[0][0]).tag == "{http://www.w3.org/2000/svg}svg"


def test_hidden_cards_are_drawn_for_their_seat_and_for_everybody_only() -> None:
    with trainyard.make("express", seed=3) as pool:
        seen = {pool.svg(0, 0), pool.svg(0, 1), pool.svg(0, everything=True)}
        assert len(seen) == 3


def test_the_choices_of_a_drawing_are_the_legal_actions() -> None:
    with trainyard.make("convoi", seed=3) as pool:
        parts = Tree.fromstring(pool.svg()).iter()
        acts = {int(act) for part in parts for act in part.get("data-act", "").split()}
        assert acts == set(np.flatnonzero(pool.mask[0]))


def test_notebooks_show_pools_and_drawings() -> None:
    with trainyard.make("chicago", seed=3) as pool:
        assert pool._repr_svg_() == pool.svg()._repr_svg_() == pool.svg(0)


def test_pixels() -> None:
    with trainyard.make("nordic", seed=3) as pool:
        image = pool.svg().rgb(width=400)
    assert image.shape == (250, 400, 3)
    assert image.dtype == np.uint8
    assert len(np.unique(image.reshape(-1, 3), axis=0)) > 50


@pytest.mark.parametrize(("mode", "kind"), [("ansi", str), ("svg", str), ("rgb_array", np.ndarray)])
def test_gymnasium_and_pettingzoo_render(mode: str, kind: type) -> None:
    env = gymnasium.make("trainyard/Express-v0", render_mode=mode, disable_env_checker=True)
    env.reset(seed=1)
    assert isinstance(env.render(), kind)
    env.close()
    table = trainyard.pettingzoo.AEC("express", render_mode=mode)
    table.reset(seed=1)
    assert isinstance(table.render(), kind)
    table.close()


def test_a_render_mode_that_there_is_not_is_refused() -> None:
    with pytest.raises(trainyard.Error, match="ansi, svg, rgb_array, human"):
        trainyard.gym.Env("express", render_mode="hologram")


def last_shown(url: str) -> str:
    """The first event of the page's stream: the last drawing, or the next."""
    address, _, fragment = url.partition("#token=")
    token = fragment.partition("&")[0]
    request = urllib.request.Request(f"{address}api/stream?shown=1")
    request.add_header("Authorization", f"Bearer {token}")
    with urllib.request.urlopen(request, timeout=30) as stream:
        name, data = stream.readline(), stream.readline()
    assert name == b"event: board\n"
    return str(json.loads(data.removeprefix(b"data: "))["svg"])


def test_human_opens_the_live_page(monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    monkeypatch.setattr(webbrowser, "open", opened.append)
    env = gymnasium.make("trainyard/Express-v0", render_mode="human", disable_env_checker=True)
    _, info = env.reset(seed=1)
    env.step(env.action_space.sample(info["action_mask"]))
    (url,) = opened
    for _ in range(100):  # the server reads at its own pace
        if last_shown(url) == env.unwrapped.pool.svg():
            break
    assert last_shown(url) == env.unwrapped.pool.svg()
    assert env.render() is None
    env.close()
    with pytest.raises(urllib.error.URLError):
        last_shown(url)


def test_a_vector_of_environments_has_no_page() -> None:
    with pytest.raises(trainyard.Error, match="human"):
        trainyard.gym.VectorEnv("express", render_mode="human")


def test_videos_are_recorded(tmp_path: Path) -> None:
    plain = gymnasium.make("trainyard/Express-v0", render_mode="rgb_array", max_steps=12)
    env = gymnasium.wrappers.RecordVideo(plain, str(tmp_path), disable_logger=True)
    _, info = env.reset(seed=1)
    over = False
    while not over:
        _, _, terminated, truncated, info = env.step(env.action_space.sample(info["action_mask"]))
        over = terminated or truncated
    env.close()
    (video,) = tmp_path.glob("*.mp4")
    assert video.stat().st_size > 10_000


def test_others_watch_as_the_director_allows() -> None:
    with trainyard.make("express", backend="zmq", seed=3, watch=0, watch_delay=2) as pool:
        first = pool.svg(0, 0)
        for _ in range(2):
            assert trainyard.watch(*pool.watching) == first
            pool.step(pool.sample(seed=1))
        endpoint, number, _ = pool.watching
        with pytest.raises(trainyard.Error, match="token"):
            trainyard.watch(endpoint, number, "wrong")
    with trainyard.make("express", backend="zmq") as pool, pytest.raises(trainyard.Error):
        assert pool.watching
    with pytest.raises(trainyard.Error, match="backend"):
        trainyard.make("express", watch="public")
