"""The native API: columns, steps, errors, names, snapshots."""

from __future__ import annotations

import copy
import gc
import pickle
import tracemalloc

import numpy as np
import pytest
import trainyard
from conftest import TOP, trajectory


def test_columns_have_the_documented_types(tiny):
    rules = tiny.ruleset
    expected = {
        "obs": ((16, rules.row_size), np.uint8),
        "mask": ((16, rules.action_count), np.bool_),
        "reward": ((16,), np.float32),
        "earned": ((16, rules.players), np.float32),
        "seat": ((16,), np.int8),
        "ready": ((16,), np.bool_),
        "terminated": ((16,), np.bool_),
        "truncated": ((16,), np.bool_),
        "illegal": ((16,), np.bool_),
        "episode": ((16,), np.uint32),
        "step_count": ((16,), np.uint32),
        "seed": ((16,), np.uint64),
        "metrics": ((16, len(rules.metrics)), np.int32),
        "final_obs": ((16, rules.players, rules.row_size), np.uint8),
        "final_reward": ((16, rules.players), np.float32),
        "hash": ((16,), np.uint64),
        "action": ((16,), np.int32),
    }
    for name, (shape, dtype) in expected.items():
        column = getattr(tiny, name)
        assert (column.shape, column.dtype) == (shape, np.dtype(dtype)), name
        shared = type(tiny.backend).__name__ == "SharedMemory"
        assert column.flags.writeable == (name == "action" or not shared)
        assert column.ctypes.data % 64 == 0


def test_columns_are_views_on_one_memory(tiny):
    obs = tiny.obs
    before = obs.copy()
    tiny.step(tiny.sample())
    assert tiny.obs is obs
    assert (obs != before).any()


def test_missing_column_says_how_to_get_it(tiny):
    with pytest.raises(AttributeError, match="full=True"):
        _ = tiny.full
    pool = trainyard.make("convoi", num_envs=2, groups=2)
    with pytest.raises(AttributeError, match=r"pool\.groups\[g\]\.obs"):
        _ = pool.obs


def test_slot_i_has_seed_plus_i_and_seeds_replay(tiny):
    assert tiny.seed.tolist() == list(range(3, 19))
    alone = trainyard.make("convoi", board="tiny", seed=11, hash=True)
    assert alone.hash[0] == tiny.hash[8]
    tiny.reset(seeds=np.arange(100, 116))
    assert tiny.seed.tolist() == list(range(100, 116))


def test_partial_reset_touches_only_its_slots(tiny):
    for _ in range(5):
        tiny.step(tiny.sample())
    which = np.zeros(16, dtype=bool)
    which[4] = True
    before = tiny.hash.copy()
    tiny.reset(which=which)
    assert tiny.step_count[4] == 0
    assert tiny.episode[4] == 1
    assert (tiny.hash[~which] == before[~which]).all()


@pytest.mark.parametrize("autoreset", ["next_step", "same_step", "disabled"])
def test_autoreset(autoreset):
    pool = trainyard.make("convoi", num_envs=8, board="tiny", autoreset=autoreset)
    for _ in range(2000):
        pool.step(pool.sample())
        ended = pool.terminated | pool.truncated
        if ended.any():
            break
    assert ended.any()
    row = int(np.flatnonzero(ended)[0])
    assert pool.metrics[row].any()
    if autoreset == "same_step":
        assert pool.mask[row].any()
        assert pool.step_count[row] == 0
        assert pool.ready[row]
    else:
        assert not pool.mask[row].any()
        k = pool.seats.index(int(pool.seat[row]))
        assert (pool.obs[row] == pool.final_obs[row, k]).all()
        pool.step(pool.sample())
        assert pool.episode[row] == (1 if autoreset == "next_step" else 0)


def test_illegal_action_is_an_exception_that_names_it(tiny):
    before = tiny.hash.copy()
    actions = tiny.sample().copy()
    actions[[2, 5]] = 0
    with pytest.raises(trainyard.IllegalAction, match=r"action 0 \(wait\).*slot 2") as caught:
        tiny.step(actions)
    assert caught.value.slots == [2, 5]
    assert caught.value.code == "illegal"
    assert tiny.hash[2] == before[2]
    assert tiny.hash[3] != before[3]
    tiny.step(tiny.sample())


def test_numbers_beyond_the_action_space_are_refused(tiny):
    for action in (-1, tiny.ruleset.action_count, 2**31 - 1):
        with pytest.raises(trainyard.IllegalAction):
            tiny.step(np.full(16, action))


def test_illegal_noop():
    pool = trainyard.make("convoi", num_envs=4, board="tiny", illegal="noop", hash=True)
    before = pool.hash.copy()
    pool.step(np.zeros(4, dtype=np.int64))
    assert pool.illegal.all()
    assert (pool.hash == before).all()


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        ({"game": "chess"}, "bad_config", "chess"),
        ({"players": 9}, "bad_config", "players=9.*2..4"),
        ({"colour": 1}, "bad_config", "colour"),
        ({"board": "atlantis"}, "bad_config", "atlantis"),
        ({"board": "nowhere/board.json"}, "io", "No such file"),
        ({"num_envs": 0}, "bad_argument", "num_envs=0"),
        ({"groups": 65, "num_envs": 100}, "bad_argument", "groups=65"),
        ({"autoreset": "sometimes"}, "bad_argument", "next_step, same_step, disabled"),
        ({"illegal": "shrug"}, "bad_argument", "noop"),
        ({"seats": ["expert"]}, "bad_argument", "1 entries for 2 players"),
        ({"seats": [None, "oracle"]}, "bad_argument", "oracle.*random"),
        ({"seats": ["random", "random"]}, "bad_argument", "at least one"),
        ({"seed": -1}, "bad_argument", "seed=-1"),
    ],
)
def test_errors_say_what_to_do(door, arguments, code, message):
    arguments = {"game": "convoi", **door, **arguments}
    with pytest.raises(trainyard.Error, match=message) as caught:
        trainyard.make(arguments.pop("game"), **arguments)
    assert caught.value.code == code


def test_wrong_actions_are_refused(tiny):
    for actions in (np.zeros(3, dtype=int), np.zeros(16), np.zeros((16, 1), dtype=int)):
        with pytest.raises(trainyard.Error, match="actions: integers"):
            tiny.step(actions)


def test_closed_pool_refuses_and_its_arrays_stay_readable(tiny):
    obs = tiny.obs
    tiny.close()
    tiny.close()
    assert obs.sum() > 0
    for call in (tiny.step, tiny.reset, tiny.save, tiny.text, tiny.sample):
        with pytest.raises(trainyard.Error, match="closed"):
            call()


def test_no_allocation_per_step(door):
    pool = trainyard.make("convoi", num_envs=512, board="tiny", **door)
    # A message comes in memory of ZeroMQ's; what Python makes of it is a matter of a few objects.
    few = 16384 if door["backend"] == "zmq" else 4096
    assert pool.obs.nbytes > 2 * few

    def play(steps: int) -> None:
        for _ in range(steps):
            pool.sample()
            pool.step()

    play(50)
    gc.collect()
    tracemalloc.start()
    play(200)
    before = tracemalloc.get_traced_memory()[0]
    tracemalloc.reset_peak()
    play(500)
    after, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert after - before < 512
    assert peak - before < few
    pool.close()


def test_pools_and_rulesets_are_given_back():
    def resident() -> int:
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1])

    def churn() -> None:
        for _ in range(40):
            trainyard.make("convoi", num_envs=512, groups=2, threads=2)

    churn()
    before = resident()
    churn()
    churn()
    assert resident() - before < 4000  # pages; one pool alone has more than 100


# ---- Groups in flight, threads


@pytest.mark.parametrize(("groups", "threads"), [(1, 2), (2, 1), (3, 2), (16, 1)])
def test_groups_and_threads_do_not_change_trajectories(groups, threads):
    settings = {"num_envs": 16, "board": "tiny", "seed": 3, "hash": True}
    one = trajectory(trainyard.make("convoi", **settings), 150)
    many = trajectory(trainyard.make("convoi", groups=groups, threads=threads, **settings), 150)
    assert (one == many).all()


def test_groups_fly_and_land():
    pool = trainyard.make("convoi", num_envs=8, board="tiny", groups=2)
    pool.sample(0)
    pool.send(0)
    with pytest.raises(trainyard.Error, match="in flight already"):
        pool.send(0)
    with pytest.raises(trainyard.Error, match=r"recv\(0\) first"):
        pool.save(5)
    pool.sample(1)
    pool.send(1)
    for group in (1, 0):
        rows = pool.recv(group)
        assert rows.step_count.tolist() == [1] * 4
    with pytest.raises(trainyard.Error, match="not in flight"):
        pool.recv(0)
    pool.send(0, pool.sample(0))
    pool.close()


# ---- Schema, names, text


def test_expand_agrees_with_the_schema():
    for spec in ("convoi:board=europe", "convoi:board=tiny,players=3"):
        pool = trainyard.make(spec, num_envs=32, full=True)
        rules = pool.ruleset
        for _ in range(30):
            pool.step(pool.sample())
        for full, rows, blocks in (
            (False, pool.obs, rules.blocks),
            (True, pool.full, rules.full_blocks),
        ):
            parts = []
            for block in blocks:
                values = rows[:, block.bytes]
                if block.width == 2:
                    values = np.ascontiguousarray(values).view("<u2")
                if block.kind == "category":
                    part = np.eye(block.maximum + 1, dtype=np.float32)[values]
                    parts.append(part.reshape(len(rows), -1))
                else:
                    top = 1 if block.kind == "flag" else block.maximum
                    parts.append(values.astype(np.float32) / np.float32(top))
                assert parts[-1].shape[1] == block.expanded.stop - block.expanded.start
            expanded = rules.expand(rows, full=full)
            assert (expanded == np.concatenate(parts, axis=1)).all()
            assert expanded.min() >= 0
            assert expanded.max() <= 1
            out = np.full_like(expanded, np.nan)
            assert rules.expand(rows, out, full=full) is out
            assert (out == expanded).all()


def test_split_agrees_with_expand():
    pool = trainyard.make("convoi", num_envs=32)
    rules = pool.ruleset
    for _ in range(30):
        pool.step(pool.sample())
    categories, numbers = rules.split(pool.obs)
    expanded = rules.expand(pool.obs)
    hot = [block for block in rules.blocks if block.kind == "category"]
    rest = [block for block in rules.blocks if block.kind != "category"]
    ones = np.concatenate([expanded[:, block.expanded] for block in hot], axis=1)
    assert ones.shape[1] == rules.embedding_size
    again = np.zeros_like(ones)
    np.put_along_axis(again, categories.astype(np.int64), 1, axis=1)
    assert (again == ones).all()
    assert (numbers == np.concatenate([expanded[:, block.expanded] for block in rest], 1)).all()


def test_expand_refuses_wrong_arrays(tiny):
    with pytest.raises(trainyard.Error, match="uint8"):
        tiny.ruleset.expand(np.zeros((2, 3), dtype=np.uint8))
    with pytest.raises(trainyard.Error, match="out"):
        tiny.ruleset.expand(tiny.obs, np.zeros((2, 3), dtype=np.float32))


def test_action_names_have_an_exact_inverse(tiny):
    rules = tiny.ruleset
    assert rules.action_names[0] == "wait"
    assert [rules.action(name) for name in rules.action_names] == list(range(rules.action_count))
    with pytest.raises(trainyard.Error, match="no action is named"):
        rules.action("fly")


def test_play_by_names_and_text():
    pool = trainyard.make("convoi", board="tiny")
    for _ in range(10):
        legal = pool.legal()
        assert len(legal) == pool.mask[0].sum()
        pool.act(legal[-1])
    assert "clock" in pool.text().lower()
    assert pool.text(0, 0) != pool.text(0, 1)
    assert isinstance(pool.state(), dict)
    assert pool.step_count[0] == 10


def test_schema_labels(tiny):
    rules = tiny.ruleset
    phase = rules.block("phase")
    assert rules.value_label(phase, phase.maximum) == "over"
    place = rules.block("place")
    assert rules.label(place, 0, 1)
    assert sum(len(range(*block.bytes.indices(9999))) for block in rules.blocks) == rules.row_size
    assert rules.blocks[-1].expanded.stop == rules.expanded_size


def test_games_and_agents():
    games = {game.name: game for game in trainyard.games()}
    fields = {field.key: field for field in games["convoi"].fields}
    assert fields["players"].minimum == 2
    assert "europe" in fields["board"].choices
    assert set(trainyard.Ruleset("convoi").agents) >= {"random", "expert"}


def test_board_of_the_users_own():
    path = TOP / "tests" / "data" / "convoi_yard.json"
    rules = trainyard.Ruleset("convoi", board=path)
    assert "board=convoi_yard@" in rules.spec
    again = pickle.loads(pickle.dumps(rules))
    assert (again.spec, again.schema_hash) == (rules.spec, rules.schema_hash)


# ---- Snapshots


def test_snapshot_restores_exactly(tiny):
    for _ in range(20):
        tiny.step(tiny.sample())
    snapshot = tiny.save(4)
    now = tiny.hash[4]
    future = trajectory(tiny, 10)[:, 4]
    tiny.restore(snapshot, [4, 9])
    assert tiny.hash[4] == now == tiny.hash[9]
    assert (trajectory(tiny, 10)[:, 4] == future).all()


def test_fork_with_keys_has_other_futures(tiny):
    tiny.step(tiny.sample())
    tiny.fork(0, range(16), keys=range(16))
    assert (tiny.obs == tiny.obs[0]).all()
    first = np.flatnonzero(tiny.mask[0])[0]
    for _ in range(12):
        tiny.step(tiny.mask.argmax(axis=1))
    assert len(np.unique(tiny.obs, axis=0)) > 1
    assert first >= 0


def test_resample_keeps_what_the_seat_knows():
    pool = trainyard.make("convoi", num_envs=8, hands="hidden") if _has_hands() else None
    if pool is None:
        pytest.skip("no setting with hidden hands")
    for _ in range(15):
        pool.step(pool.sample())
    seat = int(pool.seat[0])
    pool.fork(0, range(8), keys=range(8), seat=seat)
    assert all((pool.observe(slot, seat) == pool.observe(0, seat)).all() for slot in range(8))


def _has_hands() -> bool:
    convoi = trainyard.games()[0]
    return any(f.key == "hands" and "hidden" in f.choices for f in convoi.fields)


def test_damaged_snapshots_are_refused(tiny):
    snapshot = bytearray(tiny.save(0))
    with pytest.raises(trainyard.Error, match="bytes"):
        tiny.restore(bytes(snapshot[:-1]))
    snapshot[0] ^= 1
    with pytest.raises(trainyard.Error, match="snapshot"):
        tiny.restore(bytes(snapshot))
    with pytest.raises(trainyard.Error, match="slot 99"):
        tiny.restore(tiny.save(0), [99])
    with pytest.raises(trainyard.Error, match="keys"):
        tiny.restore(tiny.save(0), [1], seat=0)


def test_rollouts_leave_the_slot_alone(tiny):
    before = tiny.hash.copy()
    earned, metrics = tiny.rollout(2, "random", keys=range(70))
    assert earned.shape == (70, 2)
    assert metrics.shape == (70, len(tiny.ruleset.metrics))
    assert (tiny.hash == before).all()
    again, _ = tiny.rollout(2, "random", keys=range(70))
    assert (again == earned).all()


@pytest.mark.parametrize("clone", [copy.deepcopy, lambda pool: pickle.loads(pickle.dumps(pool))])
def test_copies_go_on_alike(tiny, clone):
    trajectory(tiny, 25)
    other = clone(tiny)
    assert (other.obs == tiny.obs).all()
    assert (trajectory(other, 200) == trajectory(tiny, 200)).all()


# ---- Seats


def test_built_in_agents_take_their_seats():
    pool = trainyard.make("convoi", num_envs=4, players=3, seats=[None, "random", "expert"])
    assert pool.seats == (0,)
    for _ in range(40):
        assert (pool.seat == 0).all()
        pool.step(pool.sample())


def test_built_in_agents_have_settings():
    pool = trainyard.make("express", num_envs=2, seats=[None, "search:playouts=4"])
    for _ in range(5):
        pool.step(pool.sample())
    table = trainyard.arena("express", ["search:playouts=2", "random"], episodes=2)
    assert "search:playouts=2" in str(table)
    with pytest.raises(trainyard.Error, match="playouts=0: out of range"):
        trainyard.make("express", seats=[None, "search:playouts=0"])
    with pytest.raises(trainyard.Error, match="did you mean expert"):
        trainyard.make("express", seats=[None, "exprt"])


def test_a_chance_seat_of_our_own():
    pool = trainyard.make("convoi", num_envs=2, board="tiny", chance="seat", own_chance=True)
    assert pool.seats == (0, 1, 2)
    seen = set()
    for _ in range(60):
        seen.update(pool.seat.tolist())
        pool.step(pool.sample())
    assert 2 in seen
