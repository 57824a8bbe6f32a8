"""The trainer: every game trains, a resumed run is the run that was never stopped, what a run
writes can be read and drawn, and what cannot be is refused by name."""

from __future__ import annotations

import csv
import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import torch
import trainyard
from conftest import TOP
from trainyard import net as nets
from trainyard.train import (
    Budget,
    Collector,
    Config,
    Decisions,
    Network,
    Rival,
    Run,
    Trainer,
    results,
)
from trainyard.train.__main__ import main
from trainyard.train.plot import curves

#: The smallest ruleset of each game.
SMALL = {
    "convoi": {"board": "tiny", "reward": "shaped"},
    "nordic": {"map": "tiny", "reward": "score"},
    "express": {"map": "tiny", "reward": "score"},
    "chicago": {"turn_cap": "100", "reward": "score"},
}
SIZES = {"slots": 16, "horizon": 16, "batch": 64, "hidden": [32, 32]}
ROUND = 16 * 16
BUDGET = Budget(steps=4 * ROUND, games=4, every=60)


def config(game: str, **values: object) -> Config:
    return Config(game=game, settings=SMALL[game], **{**SIZES, **values})


def weights(run: Path) -> bytes:
    return (run / "policy.net").read_bytes()


def table(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


#: What a checkpoint has to keep, besides the network: past selves, the mean of the weights.
KINDS = {
    "convoi": {},
    "nordic": {"past": 2, "past_every": 1},
    "express": {"past": 1, "past_every": 2},
    "chicago": {"average": 3},
}


@pytest.mark.parametrize("game", list(SMALL))
def test_every_game_trains_and_resumes_exactly(game: str, tmp_path: Path) -> None:
    wanted = config(game, **KINDS[game])
    Run.begin(wanted, tmp_path / "whole").go(BUDGET)
    Run.begin(wanted, tmp_path / "parts").go(Budget(steps=2 * ROUND, games=4))
    halfway = weights(tmp_path / "parts")
    Run.resume(tmp_path / "parts").go(BUDGET)
    assert weights(tmp_path / "whole") == weights(tmp_path / "parts") != halfway
    curve = table(tmp_path / "parts" / "curve.csv")
    assert [int(line["steps"]) for line in curve] == [0, 2 * ROUND, 2 * ROUND, 4 * ROUND]
    rounds = table(tmp_path / "parts" / "rounds.csv")
    assert [int(line["steps"]) for line in rounds] == [ROUND * i for i in range(1, 5)]
    for key in ("policy_loss", "value_loss", "kl", "entropy", "explained", "clipped", "reward"):
        assert all(np.isfinite(float(line[key])) for line in rounds), key
    assert Config(**json.loads((tmp_path / "parts" / "config.json").read_text())) == wanted


@pytest.mark.parametrize("game", list(SMALL))
def test_with_a_teacher_and_rivals_a_run_goes_on_too(game: str, tmp_path: Path) -> None:
    wanted = config(
        game, demonstrations="expert", demonstrated=3 * ROUND, rivals={"expert": 4, "random": 1}
    )
    Run.begin(wanted, tmp_path).go(Budget(steps=2 * ROUND, games=4))
    Run.resume(tmp_path).go(Budget(steps=8 * ROUND, games=4))
    rounds = table(tmp_path / "rounds.csv")
    assert [line["agreed"] != "" for line in rounds] == [True] * 3 + [False] * 5
    assert float(rounds[0]["agreed"]) == 1.0 > float(rounds[2]["agreed"])
    if game == "express":  # whose games are short enough to end
        assert any(line["won_rivals"] != "" for line in rounds)


def test_a_curriculum_changes_what_is_played(tmp_path: Path) -> None:
    stages = [[2 * ROUND, {"clock": "10", "removed": "6"}], [3 * ROUND, {"extra_light": "true"}]]
    wanted = config("convoi", curriculum=stages)
    specs = [wanted.ruleset_at(ROUND * i).spec for i in range(4)]
    assert ["clock=10,removed=6" in spec for spec in specs] == [True, True, False, False]
    assert ["extra_light=true" in spec for spec in specs] == [False, False, True, False]
    Run.begin(wanted, tmp_path / "whole").go(BUDGET)
    Run.begin(wanted, tmp_path / "parts").go(Budget(steps=3 * ROUND, games=4))
    Run.resume(tmp_path / "parts").go(BUDGET)
    assert weights(tmp_path / "whole") == weights(tmp_path / "parts")
    with pytest.raises(trainyard.Error, match=r"curriculum until 5: .* only settings that leave"):
        config("convoi", curriculum=[[5, {"hints": "true"}]]).check()


def test_a_run_starts_from_a_network(tmp_path: Path) -> None:
    Run.begin(config("convoi"), tmp_path / "first").go(BUDGET)
    file = tmp_path / "start.net"
    file.write_bytes(weights(tmp_path / "first"))
    wanted = config("convoi", start=str(file), seed=1)
    Run.begin(wanted, tmp_path / "next").go(Budget(steps=1, games=4, every=60))
    begun = table(tmp_path / "next" / "curve.csv")[0]
    ended = table(tmp_path / "first" / "curve.csv")[-1]
    assert {**begun, "minutes": "", "steps": ""} == {**ended, "minutes": "", "steps": ""}
    assert weights(tmp_path / "next") != weights(tmp_path / "first")
    file.unlink()
    Run.resume(tmp_path / "next").go(Budget(steps=2 * ROUND, games=4, every=60))
    with pytest.raises(trainyard.Error, match=r"start=.*start\.net: .*No such file"):
        Trainer(wanted)
    file.write_bytes(weights(tmp_path / "first"))
    with pytest.raises(trainyard.Error, match=r"its hidden layers are \[32, 32\], not \[64\]"):
        Trainer(config("convoi", start=str(file), hidden=[64]))
    with pytest.raises(trainyard.Error, match=r"start=.*start\.net: "):
        Trainer(config("express", start=str(file)))


def heads(path: Path, average: int) -> list[np.ndarray]:
    """The head for actions of what a run saves before it, after a round and after two."""
    trainer = Trainer(config("convoi", average=average))
    found = []
    for _ in range(3):
        trainer.save_net(path)
        found.append(nets.unpack(path.read_bytes()).policy[0])
        trainer.round()
    trainer.close()
    return found


def test_a_run_can_save_the_mean_of_its_weights(tmp_path: Path) -> None:
    last = heads(tmp_path / "last.net", 1)
    mean = heads(tmp_path / "mean.net", 2)
    assert not np.array_equal(last[1], last[2])
    assert np.array_equal(mean[0], last[0])
    assert np.allclose(mean[1], (last[0] + last[1]) / 2, atol=1e-6)
    assert np.allclose(mean[2], (mean[1] + last[2]) / 2, atol=1e-6)


@pytest.mark.parametrize(("scale", "said"), [(1.0, 2), (0.2, 1)])
def test_values_are_rewards_if_these_are_learned_as_they_are(
    scale: float, said: int, tmp_path: Path
) -> None:
    """Search judges by the values of such a network: agents/NET.md, byte 32."""
    trainer = Trainer(config("express", scale=scale))
    trainer.round()
    trainer.save_net(tmp_path / "policy.net")
    trainer.close()
    assert (tmp_path / "policy.net").read_bytes()[32] == said


def test_imitation_learns_to_agree_with_the_expert() -> None:
    """Of 200,000 advised decisions on the tiny map, on which chance agrees with few."""
    wanted = Config(
        game="express",
        settings=SMALL["express"],
        slots=64,
        horizon=32,
        batch=512,
        hidden=[64],
        demonstrations="expert",
        demonstrated=1 << 40,  # the expert plays nearly everything
        rate=3e-3,
    )
    trainer = Trainer(wanted)
    losses = []
    for _ in range(40):
        trainer.round()
        losses.append(trainer.figures["policy_loss"])
    trainer.close()
    assert np.mean(losses[-5:]) < 0.5 * losses[0]


def run(out: Path, *arguments: str) -> None:
    sizes = ["--slots", "16", "--horizon", "16", "--batch", "64", "--hidden", "[32]"]
    board = ["--set", "board=tiny", "--games", "4"]
    main(["run", "convoi", *board, *sizes, "--out", str(out), "--steps", str(ROUND), *arguments])


def test_a_folder_with_a_run_is_not_overwritten(tmp_path: Path) -> None:
    run(tmp_path)
    before = weights(tmp_path)
    with pytest.raises(SystemExit, match="has a run: resume it, give another folder, or overwrite"):
        run(tmp_path, "--seed", "1")
    assert weights(tmp_path) == before
    run(tmp_path, "--seed", "1", "--overwrite")
    assert weights(tmp_path) != before
    with pytest.raises(SystemExit, match=r"there is no train\.pt"):
        main(["resume", str(tmp_path / "elsewhere")])
    torch.save({"acting": torch.zeros(1)}, tmp_path / "train.pt")
    with pytest.raises(SystemExit, match="a run of an earlier trainer"):
        main(["resume", str(tmp_path)])
    (tmp_path / "train.pt").write_bytes(b"no checkpoint")
    with pytest.raises(SystemExit, match=r"train\.pt cannot be read: "):
        main(["resume", str(tmp_path)])


def test_values_come_from_a_file_and_the_command_line_overrides_them(tmp_path: Path) -> None:
    file = tmp_path / "values.json"
    file.write_text(json.dumps({"rate": 0.5, "entropy": 0.25, "settings": {"clock": "8"}}))
    run(tmp_path / "run", "--config", str(file), "--rate", "0.125")
    found = json.loads((tmp_path / "run" / "config.json").read_text())
    assert (found["rate"], found["entropy"]) == (0.125, 0.25)
    learning = {"hints": "true", "reward": "progress"}
    assert found["settings"] == {**learning, "clock": "8", "board": "tiny"}
    again = tmp_path / "run" / "config.json"  # what a run is can be run again
    run(tmp_path / "again", "--config", str(again))
    assert weights(tmp_path / "again") == weights(tmp_path / "run")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ('{"rte": 1}', r"no rte; there are game, settings"),
        ('{"rate": "fast"}', r"rate='fast'; wanted is float"),
        ("[]", r"an object with names and values"),
        ("{", r"values\.json: "),
        ('{"slots": 0}', r"slots=0; allowed is 1 or more"),
        ('{"slots": 2, "parts": 3}', r"parts=3; allowed are as many as slots, 2"),
        ('{"discount": 1.5}', r"discount=1\.5; allowed is 0 to 1"),
        ('{"hidden": [48]}', r"hidden=\[48\]; allowed are multiples of 32"),
        ('{"game": "chess"}', r"no game is named 'chess'; there are convoi"),
        ('{"settings": {"players": "9"}}', r"players=9"),
        ('{"demonstrations": "nobody"}', r"'nobody' does not play convoi; there are random"),
    ],
)
def test_a_value_that_cannot_be_is_refused_by_name(tmp_path: Path, content: str, said: str) -> None:
    file = tmp_path / "values.json"
    file.write_text(content)
    with pytest.raises(SystemExit, match=said):
        main(["run", "--config", str(file), "--steps", "1", "--out", str(tmp_path / "run")])


#: Starts a program that hears Ctrl-C, wherever it is started from.
DEAF = """
import os, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
os.execv(sys.argv[1], sys.argv[1:])
"""


def test_ctrl_c_saves_a_run_that_can_be_resumed(tmp_path: Path) -> None:
    out = tmp_path / "stopped"
    run(tmp_path / "never")  # for its configuration
    command = [sys.executable, "-m", "trainyard.train", "run"]
    command += ["--config", str(tmp_path / "never" / "config.json"), "--out", str(out)]
    command += ["--minutes", "30", "--games", "4"]
    with subprocess.Popen([sys.executable, "-c", DEAF, *command]) as process:
        while len(table(out / "rounds.csv") if (out / "rounds.csv").exists() else []) < 3:
            assert process.poll() is None
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
    assert process.returncode == 0
    played = int(table(out / "rounds.csv")[-1]["steps"])
    Run.resume(out).go(Budget(steps=played + ROUND, games=4))
    again = Config(**json.loads((out / "config.json").read_text()))
    Run.begin(again, tmp_path / "whole").go(Budget(steps=played + ROUND, games=4))
    assert weights(tmp_path / "whole") == weights(out)


def test_tensorboard_gets_every_figure_by_decisions(tmp_path: Path) -> None:
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    run(tmp_path, "--tensorboard", "--steps", str(2 * ROUND))
    written = EventAccumulator(str(tmp_path / "tensorboard")).Reload()
    for key in ("rounds/kl", "rounds/entropy", "rounds/explained", "rounds/policy_loss"):
        assert [event.step for event in written.Scalars(key)] == [ROUND, 2 * ROUND]
    assert [event.step for event in written.Scalars("curve/goods")] == [0, 2 * ROUND]


def test_several_seeds_are_one_command_and_one_plot(tmp_path: Path) -> None:
    run(tmp_path / "many", "--seeds", "2", "--jobs", "2")
    runs = [tmp_path / "many-0", tmp_path / "many-1"]
    assert weights(runs[0]) != weights(runs[1])
    plot = tmp_path / "plot.png"
    main(["plot", *map(str, runs), "--figure", "earned", "-o", str(plot), "--level", "expert=4"])
    assert plot.read_bytes().startswith(b"\x89PNG")
    with pytest.raises(SystemExit, match="no won_expert in its curve; there are earned"):
        main(["plot", *map(str, runs), "--figure", "won_expert", "-o", str(plot)])


def test_curves_have_intervals_over_seeds(tmp_path: Path) -> None:
    for seed, value in enumerate((1.0, 2.0, 3.0)):
        (tmp_path / str(seed)).mkdir()
        lines = ["steps,goods,goods_low,goods_high", "0,0,0,0", f"10,{value},0.5,3.5"]
        (tmp_path / str(seed) / "curve.csv").write_text("\n".join(lines) + "\n")
    runs = [tmp_path / str(seed) for seed in range(3)]
    steps, mean, low, high = curves(runs, "goods")
    assert steps.tolist() == [0, 10]
    assert mean.tolist() == [0, 2]
    # Student's for two degrees of freedom, with a deviation of 1 over 3 seeds.
    assert high[1] - 2 == pytest.approx(4.302653 / 3**0.5, rel=1e-6)
    assert low[1] == pytest.approx(4 - high[1])
    _, mean, low, high = curves(runs[:1], "goods")
    assert (mean[1], low[1], high[1]) == (1.0, 0.5, 3.5)
    for run, value in zip(runs, (0.1, 0.5, 0.9), strict=True):
        lines = ["steps,won,won_low,won_high", f"0,{value},0,1"]
        (run / "curve.csv").write_text("\n".join(lines) + "\n")
    _, mean, low, high = curves(runs, "won")
    assert (mean[0], low[0], high[0]) == (0.5, 0.0, 1.0)  # a share


def test_a_network_that_ships_is_evaluated_beside_agents(capsys: pytest.CaptureFixture) -> None:
    main(["evaluate", str(TOP / "agents/nets/convoi.net"), "--games", "40", "--against", "random"])
    said = capsys.readouterr().out
    goods = {
        line.split()[0]: float(line.split()[2]) for line in said.splitlines() if " goods " in line
    }
    assert goods["network"] > 6.0 > goods["random"]
    assert "seeds 1000000..1000039" in said


def test_evaluations_take_every_seat() -> None:
    """Of the same network against itself half of the games are won, whatever seat is better."""
    rules = trainyard.Ruleset("express", map="tiny")
    torch.manual_seed(0)
    net = nets.net_of(Network(rules, [32]), rules)
    found = results(net, count=60, against=["random"])["won_random"]
    assert 0 <= found.low <= found.mean <= found.high <= 1


def test_a_past_self_is_a_rival() -> None:
    rules = trainyard.Ruleset("express", map="tiny")
    torch.manual_seed(0)
    net = nets.net_of(Network(rules, [32]), rules)
    collector = Collector(rules, slots=32, seed=1, rivals=[Rival(net, 1)], alone=0)
    decisions = Decisions(rules, 200, 32)
    collector.run(net, decisions)
    alone, past = collector.outcomes()
    assert alone.episodes == 0
    # It is as strong as the network itself.
    assert past.episodes > 50
    assert 0.2 < past.won < 0.8
    collector.set_rivals([], 1)
    collector.run(net, decisions)
    assert collector.outcomes()[0].episodes > 0


def test_both_ways_to_play_a_network_are_measured(capsys: pytest.CaptureFixture) -> None:
    file = TOP / "agents/nets/convoi.net"
    main(["speed", str(file), "--seconds", "0.2"])
    widths = [bias.size for _, bias in nets.unpack(file.read_bytes()).hidden]
    said = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in said[1:3]] == ["library", "PyTorch"]
    assert [line for line in said if line.startswith("training")] == [
        f"training, {epochs} epochs, hidden layers {widths}" for epochs in (1, 2)
    ]


def test_the_weights_do_not_depend_on_threads(
    tmp_path: Path, capsys: pytest.CaptureFixture
) -> None:
    run(tmp_path / "one", "--threads", "1", "--parts", "3")
    run(tmp_path / "more", "--threads", "3", "--parts", "3")
    run(tmp_path / "whole", "--threads", "1", "--parts", "1")
    assert weights(tmp_path / "one") == weights(tmp_path / "more")
    # Parts add up to the same, but for rounding.
    one, whole = (nets.unpack(weights(tmp_path / name)).policy[0] for name in ("one", "whole"))
    assert not np.array_equal(one, whole)
    assert np.allclose(one, whole, atol=1e-3)
    with pytest.raises(SystemExit):
        run(tmp_path / "none", "--threads", "none")
    assert "'none': a number from 1 on" in capsys.readouterr().err


def test_collectors_write_side_by_side_what_one_would() -> None:
    rules = trainyard.Ruleset("nordic", map="tiny")
    torch.manual_seed(0)
    net = nets.net_of(Network(rules, [32]), rules)
    whole, parts = Decisions(rules, 40, 5), Decisions(rules, 40, 5)
    Collector(rules, slots=5, seed=7).run(net, whole)
    for first, slots in ((0, 2), (2, 3)):
        Collector(rules, slots=slots, seed=7 + first).run(net, parts, first=first)
    for name, column in vars(whole).items():
        assert np.array_equal(column, getattr(parts, name)), name


def test_what_is_learned_from_was_played_with_the_latest_weights() -> None:
    """Of one batch a round: before it is learned from, the network that judges is the one that
    played, and nothing has moved."""
    trainer = Trainer(config("convoi", epochs=1, batch=ROUND))
    for _ in range(3):
        trainer.round()
        assert abs(trainer.figures["kl"]) < 1e-6
        assert trainer.figures["clipped"] == 0
    trainer.close()


def test_the_example_of_a_learner_runs() -> None:
    command = [sys.executable, str(TOP / "examples/own_learner.py"), "--rounds", "1"]
    said = subprocess.run(
        [*command, "--map", "tiny"], check=True, capture_output=True, text=True
    ).stdout
    assert "16,384 decisions: wins " in said


def test_advantages_follow_each_seat_on_its_own_line() -> None:
    """Two seats move in turn; the rewards of one are not the other's, and what comes after the end
    of an episode does not reach back."""
    decisions = Decisions(trainyard.Ruleset("nordic", map="tiny"), 5, 1)
    decisions.seat[:, 0] = [0, 1, 0, 1, 0, 1]
    decisions.value[:, 0] = [0.5, 0.25, 1.0, 2.0, 4.0, 8.0]
    decisions.earned[:, 0] = [[1, 0], [2, 3], [0, 5], [7, 11], [13, 17]]
    decisions.ended[3, 0] = True
    gain, valid = decisions.advantages(0.5, 0.0, 1.0)
    # Seat 0 at step 0 earns 1 + 2 until its next decision, which is worth 1.
    assert gain[0, 0] == 1 + 2 + 0.5 * 1.0 - 0.5
    assert gain[1, 0] == 3 + 5 + 0.5 * 2.0 - 0.25
    # The episode ends with step 3: what was earned until then, and no value behind it.
    assert gain[2, 0] == 0 + 7 - 1.0
    assert gain[3, 0] == 11 - 2.0
    # Seat 0 does not decide again after step 4: nothing is known of it.
    assert valid[:, 0].tolist() == [True, True, True, True, False]
    assert np.isfinite(gain).all()
