"""Networks of the library: they play what PyTorch plays, and damaged files are refused."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import numpy as np
import pytest
import torch
import trainyard
from conftest import TOP
from torch import nn
from trainyard import net as nets
from trainyard._lib import program_path
from trainyard.daemon import daemon_path
from trainyard.train import Network

GAMES = [game.name for game in trainyard.games()]
SHIPPED = sorted((TOP / "agents/nets").glob("*.net"))


def small(game: str) -> trainyard.Ruleset:
    found = {game.name: game for game in trainyard.games()}[game]
    return trainyard.Ruleset(game, **found.small)


def positions(net: nets.Net, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows and masks of games that the network plays, with some luck."""
    rows: list[np.ndarray] = []
    masks: list[np.ndarray] = []
    rng = np.random.default_rng(0)
    with trainyard.make(net.ruleset.spec, num_envs=100, backend="inproc", seed=7) as pool:
        for _ in range(count // 100):
            rows.append(pool.obs.copy())
            masks.append(pool.mask.copy())
            pool.step(net.choose(pool.obs, pool.mask, temperature=1.0, rng=rng).action)
    return np.concatenate(rows), np.concatenate(masks)


def module_of(net: nets.Net, data: bytes) -> nn.Module:
    """The network of a file as PyTorch computes it, from agents/NET.md."""
    rules = net.ruleset
    head = np.frombuffer(data[:68], "<u4")
    widths = [int(width) for width in head[9:17] if width]
    numbers = torch.from_numpy(np.frombuffer(data[580:-8], "<f4").copy())
    layers: list[nn.Module] = []
    inputs = rules.expanded_size
    for width in widths:
        layer = nn.Linear(inputs, width)
        weight, bias, numbers = torch.split(
            numbers, [inputs * width, width, len(numbers) - (inputs + 1) * width]
        )
        layer.weight.data, layer.bias.data = weight.view(inputs, width).T, bias
        layers += [layer, nn.ReLU()]
        inputs = width
    actions = rules.action_count
    policy = nn.Linear(inputs, actions)
    policy.weight.data = numbers[: actions * inputs].view(actions, inputs)
    policy.bias.data = numbers[actions * inputs : actions * (inputs + 1)]
    return nn.Sequential(*layers, policy)


def check_same_play(net: nets.Net, data: bytes, count: int) -> None:
    rows, masks = positions(net, count)
    assert len(rows) == count
    with torch.inference_mode():
        logits = module_of(net, data)(torch.from_numpy(net.ruleset.expand(rows))).numpy()
    theirs = np.where(masks, logits, -np.inf)
    ours, _ = net.think(rows, masks)
    assert np.array_equal(np.isinf(ours), ~masks)
    legal = ours[masks]
    assert np.abs(legal - theirs[masks]).max() < 1e-4 * max(1.0, np.abs(legal).max())
    chosen = net.choose(rows, masks).action
    assert np.array_equal(chosen, ours.argmax(axis=1))
    # Where PyTorch chooses another action, both are as good to its last digits.
    apart = np.flatnonzero(theirs.argmax(axis=1) != chosen)
    assert len(apart) <= count // 1000
    for row in apart:
        assert theirs[row].max() - theirs[row, chosen[row]] < 1e-4


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_a_network_that_ships_plays_what_pytorch_plays_on_10000_rows(path: Path) -> None:
    check_same_play(nets.load(path), path.read_bytes(), 10_000)
    assert path.stat().st_size < 2_000_000


@pytest.mark.parametrize("game", GAMES)
def test_a_network_of_any_game_plays_what_pytorch_plays(game: str) -> None:
    torch.manual_seed(1)
    rules = small(game)
    module = Network(rules, [64, 32, 96])
    with torch.no_grad():
        module.policy.weight *= 100  # the first ones are nearly nothing
    data = nets.pack(rules, module.layers()).tobytes()
    check_same_play(nets.Net(rules, data), data, 2000)


def test_a_module_is_saved_and_loaded(tmp_path: Path) -> None:
    rules = small("express")
    plain = nn.Sequential(
        nn.Linear(rules.expanded_size, 64), nn.ReLU(), nn.Linear(64, rules.action_count)
    )
    nets.save(plain, rules, tmp_path / "plain.net")
    net = nets.load(tmp_path / "plain.net")
    assert net.ruleset.spec == rules.spec
    assert nets.load(tmp_path / "plain.net", rules).ruleset is rules
    rows, masks = positions(net, 100)
    _, values = net.think(rows, masks)
    assert not values.any()  # it has no head for them


class Tanh(nn.Module):
    """Has layers, and computes something else."""

    def __init__(self, rules: trainyard.Ruleset) -> None:
        super().__init__()
        self.first = nn.Linear(rules.expanded_size, 32)
        self.policy = nn.Linear(32, rules.action_count)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.policy(torch.tanh(self.first(x)))


def test_a_module_that_computes_something_else_is_refused(tmp_path: Path) -> None:
    rules = small("express")
    with pytest.raises(trainyard.Error, match="does not compute what its layers say"):
        nets.save(Tanh(rules), rules, tmp_path / "tanh.net")
    assert not (tmp_path / "tanh.net").exists()
    with pytest.raises(trainyard.Error, match="multiples of 32 up to 1024"):
        nets.save(Network(rules, [32, 48]), rules, tmp_path / "wide.net")
    with pytest.raises(trainyard.Error, match="at least one hidden layer"):
        nets.save(nn.Linear(rules.expanded_size, rules.action_count), rules, tmp_path / "flat.net")


def test_damaged_files_are_refused_with_their_name(tmp_path: Path) -> None:
    rules = small("express")
    path = tmp_path / "x.net"
    nets.save(Network(rules, [32]), rules, path)
    whole = path.read_bytes()
    for content, said in [
        (b"", "not a network"),
        (b"something else", "not a network"),
        (whole[:300], "cut off"),
        (whole[:-1], "damaged or cut off"),
        (whole[:1000] + bytes([whole[1000] ^ 4]) + whole[1001:], "damaged or cut off"),
    ]:
        path.write_bytes(content)
        with pytest.raises(trainyard.Error, match=rf"x\.net: .*{said}"):
            nets.load(path, rules)
    path.write_bytes(whole)
    with pytest.raises(trainyard.Error, match=r"x\.net: made for express:.*those of nordic"):
        nets.load(path, small("nordic"))


def test_rows_and_masks_of_another_kind_are_refused() -> None:
    rules = small("express")
    net = nets.net_of(Network(rules, [32]), rules)
    rows, masks = positions(net, 100)
    with pytest.raises(trainyard.Error, match="rows are uint8"):
        net.think(rows[:, 1:], masks)
    with pytest.raises(trainyard.Error, match="masks are bool"):
        net.think(rows, masks[1:])
    with pytest.raises(trainyard.Error, match="a mask allows nothing"):
        net.choose(rows, np.zeros_like(masks))
    with pytest.raises(trainyard.Error, match="needs an rng"):
        net.choose(rows, masks, temperature=1.0)


@pytest.mark.parametrize("game", GAMES)
def test_the_learning_network_has_pytorchs_gradients(game: str) -> None:
    """Rows in the library's first layer and legal actions in its head, against expanded rows and a
    softmax over all actions."""
    torch.manual_seed(2)
    rules = small(game)
    network = Network(rules, [64, 32])
    with torch.no_grad():
        network.policy.weight *= 100
    rows, masks = positions(nets.net_of(network, rules), 300)
    mask = torch.from_numpy(masks)
    action = torch.multinomial(mask.float(), 1)[:, 0].int()
    weight = torch.randn(3, len(rows))

    def loss(chosen: torch.Tensor, entropy: torch.Tensor, value: torch.Tensor) -> torch.Tensor:
        return (weight * torch.stack([chosen, entropy, value])).mean()

    ours = loss(*network.judge(torch.from_numpy(rows), mask, action))
    ours.backward()
    slopes = [parameter.grad.clone() for parameter in network.parameters()]
    network.zero_grad()
    logits, value = network(torch.from_numpy(rules.expand(rows)))
    logp = torch.log_softmax(logits.masked_fill(~mask, -1e9), dim=1)
    entropy = -(logp.exp() * logp).sum(dim=1)
    theirs = loss(logp.gather(1, action.long()[:, None])[:, 0], entropy, value)
    theirs.backward()
    assert abs(ours.item() - theirs.item()) < 1e-5
    for slope, parameter in zip(slopes, network.parameters(), strict=True):
        scale = parameter.grad.abs().max()
        assert scale > 0
        assert (slope - parameter.grad).abs().max() < 1e-4 * scale


def test_an_action_that_is_not_legal_is_not_judged() -> None:
    rules = small("express")
    network = Network(rules, [32])
    rows, masks = positions(nets.net_of(network, rules), 100)
    illegal = torch.from_numpy(masks).int().argmin(dim=1).int()
    with pytest.raises(trainyard.Error, match=r"row 0: action \d+ is not legal"):
        network.judge(torch.from_numpy(rows), torch.from_numpy(masks), illegal)


def test_a_network_sits_in_pools_behind_every_door(door: dict, tmp_path: Path) -> None:
    """The same game, whether the network's seat is the library's, a daemon's, or played here."""
    torch.manual_seed(3)
    rules = small("express")
    path = tmp_path / "some-net.v1"
    nets.save(Network(rules, [32]), rules, path)
    net = nets.load(path)
    wanted = []
    with trainyard.make(rules.spec, num_envs=8, seed=5, backend="inproc") as pool:
        for _ in range(60):
            wanted.append(pool.obs[pool.seat == 0].copy())
            pool.step(
                np.where(
                    pool.seat == 0,
                    pool.mask.argmax(axis=1),
                    net.choose(pool.obs, pool.mask).action,
                )
            )
    if "endpoint" in door:  # a daemon of somebody else has its own files only
        with pytest.raises(trainyard.Error, match="not the name of a file here"):
            trainyard.make(rules.spec, seats=[None, f"net:{path}"], **door)
        return
    rows: dict[int, list[bytes]] = {slot: [] for slot in range(8)}
    with trainyard.make(
        rules.spec, num_envs=8, seed=5, seats=[None, f"net:{path}"], **door
    ) as pool:
        for _ in range(20):
            for slot in range(8):
                rows[slot].append(pool.obs[slot].tobytes())
            pool.step(pool.mask.argmax(axis=1))
    seen = {row.tobytes() for part in wanted for row in part}
    assert all(row in seen for slot in rows.values() for row in slot)


def test_a_running_daemon_has_networks_in_its_folder(tmp_path: Path) -> None:
    rules = small("express")
    torch.manual_seed(3)
    nets.save(Network(rules, [32]), rules, tmp_path / "mine.net")
    (tmp_path / "broken.net").write_bytes((tmp_path / "mine.net").read_bytes()[:-9])
    endpoint = f"ipc://{tmp_path}/daemon"
    command = [str(daemon_path()), "--listen", endpoint, "--boards", str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert "ready" in process.stdout.readline()
            _check_folder(rules, {"num_envs": 4, "backend": "zmq", "endpoint": endpoint})
        finally:
            process.terminate()


def _check_folder(rules: trainyard.Ruleset, pool: dict) -> None:
    for agent in ("net:mine.net,temperature=1", "search:playouts=4,net=mine.net"):
        with trainyard.make(rules.spec, seats=[None, agent], **pool) as opened:
            while opened.episode.min() < 2:
                opened.step(opened.sample())
    for name, said in [
        ("net:broken.net", "net: broken.net@.*: damaged or cut off"),
        ("net:missing.net", "the daemon has no file 'missing.net'"),
        ("net:../mine.net", "not the name of a file here"),
        ("net", "net: needs a file"),
        ("search:net=missing.net", "the daemon has no file 'missing.net'"),
        ("search:net=broken.net", "net: broken.net@.*: damaged or cut off"),
    ]:
        with pytest.raises(trainyard.Error, match=said):
            trainyard.make(rules.spec, seats=[None, name], **pool)
    with pytest.raises(trainyard.Error, match="made for express:map=tiny"):
        trainyard.make("nordic:map=tiny", seats=[None, "net:mine.net"], **pool)


def test_the_tool_plays_a_network_as_we_do(tmp_path: Path) -> None:
    rules = small("express")
    torch.manual_seed(3)
    path = tmp_path / "mine.net"
    nets.save(Network(rules, [32]), rules, path)
    net = nets.load(path)
    played = trainyard.play(rules, [f"net:{path}", "expert"], episodes=50, seed=1000)
    tool = [str(program_path("trainyard")), "sim", rules.spec, "--agents", f"net:{path},expert"]
    said = subprocess.run(
        [*tool, "--episodes", "50", "--seed", "1000", "--json"],
        check=True,
        capture_output=True,
        text=True,
    )
    found = json.loads(said.stdout)["metrics"]
    column = rules.metrics.index("won_0")
    assert found["won_0"]["mean"] == pytest.approx(played.metrics[:, column].mean())
    from trainyard.train import games

    ours = games(net, np.arange(1000, 1050, dtype=np.uint64), seats=[None, "expert"])
    assert np.array_equal(ours.metrics, played.metrics)


def test_search_is_guided_by_a_network_from_python(tmp_path: Path) -> None:
    """In an arena of ours, in the library's pool and in a daemon of our own: the same games."""
    torch.manual_seed(3)
    rules = small("express")
    path = tmp_path / "guide.net"
    nets.save(Network(rules, [32]), rules, path, rewards=True)
    agent = f"search:playouts=8,net={path}"
    played = trainyard.play(rules, [agent, "random"], episodes=8, seed=40)
    plain = trainyard.play(rules, ["search:playouts=8", "random"], episodes=8, seed=40)
    assert not np.array_equal(played.metrics, plain.metrics)
    assert np.array_equal(
        played.metrics, trainyard.play(rules, [agent, "random"], episodes=8, seed=40).metrics
    )
    rows = []
    for backend in ("inproc", "shm", "zmq"):
        with trainyard.make(
            rules.spec, num_envs=4, seed=9, seats=[None, agent], backend=backend
        ) as pool:
            for _ in range(12):
                pool.step(pool.mask.argmax(axis=1))
            rows.append(pool.obs.copy())
    assert np.array_equal(rows[0], rows[1])
    assert np.array_equal(rows[0], rows[2])


def test_values_that_are_rewards_are_said_to_be(tmp_path: Path) -> None:
    rules = small("express")
    for rewards, said in ((False, 1), (True, 2)):
        nets.save(Network(rules, [32]), rules, tmp_path / "some.net", rewards=rewards)
        assert (tmp_path / "some.net").read_bytes()[32] == said
        nets.load(tmp_path / "some.net")
