"""Generated boards: splits, one schema for all boards of a size, networks that play several."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import trainyard
from trainyard import boards
from trainyard.net import Layers, Net, pack

TOP = Path(__file__).resolve().parents[3]
SIZES = {"convoi": 5, "express": 12, "nordic": 12}


def test_a_board_has_its_seed_size_and_level_in_its_name():
    assert boards.name(7) == "gen:7-normal"
    assert boards.name(7, size=16, level="hard") == "gen:7-16-hard"
    spec = boards.ruleset("convoi", "test", 3, size=16, level="hard").spec
    assert spec.startswith("convoi:board=gen:2000003-16-hard@")


@pytest.mark.parametrize("game", boards.SETTINGS)
def test_boards_of_a_size_have_one_schema_and_are_different_boards(game):
    splits = [
        boards.rulesets(game, split, 4, size=SIZES[game], show_board=True)
        for split in ("train", "validation", "test")
    ]
    rulesets = [rules for split in splits for rules in split]
    assert len({rules.schema_hash for rules in rulesets}) == 1
    assert len({(rules.row_size, rules.action_count) for rules in rulesets}) == 1
    assert len({rules.spec for rules in rulesets}) == 12


@pytest.mark.parametrize("game", boards.SETTINGS)
def test_rows_that_show_the_board_tell_boards_apart(game):
    rows = []
    for rules in boards.rulesets(game, "train", 2, size=SIZES[game], show_board=True):
        with trainyard.make(rules.spec, num_envs=1, seed=0, backend="inproc") as pool:
            pool.reset()
            parts = [
                pool.obs[0, rules.block(name).bytes]
                for name in ("line", "route_ends")
                if name in {block.name for block in rules.blocks}
            ]
            rows.append(np.concatenate(parts))
    assert not np.array_equal(*rows)


@pytest.mark.parametrize("game", boards.SETTINGS)
def test_graphs_of_boards_of_a_size_have_one_shape(game):
    shapes = set()
    for rules in boards.rulesets(game, "train", 4, size=SIZES[game], show_board=True):
        graph = rules.board.observe(np.zeros((2, rules.row_size), np.uint8))
        parts = (graph.nodes, graph.edges, graph.rest, rules.board.edge_index)
        shapes.add(tuple(part.shape for part in parts))
    assert len(shapes) == 1


@pytest.mark.parametrize("game", boards.SETTINGS)
def test_generated_boards_are_the_same_behind_every_door(game, door):
    spec = f"{game}:{boards.SETTINGS[game]}={boards.name(7, size=SIZES[game])},show_board=true"
    shown = []
    for how in ({"backend": "inproc"}, door):
        with trainyard.make(spec, num_envs=2, seed=3, **how) as pool:
            pool.reset()
            for _ in range(5):
                pool.step(pool.mask.argmax(axis=1))
            shown.append((pool.ruleset.spec, pool.obs.tobytes(), pool.mask.tobytes()))
    assert shown[0] == shown[1]


def test_one_network_plays_every_board_of_a_size():
    one, *others = boards.rulesets("convoi", "train", 3, size=5, hints=True)
    rng = np.random.default_rng(0)

    def layer(inputs, outputs):
        return rng.normal(size=(inputs, outputs)).astype(np.float32), np.zeros(outputs, np.float32)

    layers = Layers([layer(one.expanded_size, 32)], layer(32, one.action_count))
    data = pack(one, layers).tobytes()
    for rules in others:
        net = Net(rules, data)
        with trainyard.make(rules.spec, num_envs=2, seed=1, backend="inproc") as pool:
            pool.reset()
            for _ in range(50):
                pool.step(net.choose(pool.obs, pool.mask).action)
    with pytest.raises(trainyard.Error):
        Net(boards.ruleset("convoi", "train", 0, size=6, hints=True), data)


def test_what_is_not_there_is_named():
    with pytest.raises(trainyard.Error, match="chicago"):
        boards.ruleset("chicago", "train", 0)
    with pytest.raises(trainyard.Error, match="level='odd'"):
        boards.name(1, level="odd")
    with pytest.raises(trainyard.Error, match="split="):
        boards.ruleset("convoi", "exam", 0)
    with pytest.raises(trainyard.Error, match="index="):
        boards.ruleset("convoi", "test", 10_000)
    with pytest.raises(trainyard.Error, match=r"4\.\.20"):
        boards.ruleset("convoi", "test", 0, size=21)


def test_example_generalises():
    """examples/generalise.py, for a moment: it learns on two boards and plays two others."""
    example = TOP / "examples/generalise.py"
    few = ["--boards", "2", "--steps", "1", "--unseen", "2", "--games", "2", "--size", "4"]
    command = [sys.executable, example, *few]
    told = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    assert [line.split()[0].strip(":") for line in told[1:]] == ["random", "expert", "2"]
    assert "unseen" in told[-1]
