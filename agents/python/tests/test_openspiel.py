"""OpenSpiel: its own random simulation, its searches, and exploitability."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
import trainyard

pyspiel = pytest.importorskip("pyspiel")
from open_spiel.python import policy  # noqa: E402
from open_spiel.python.algorithms import cfr, exploitability, ismcts, mcts  # noqa: E402
from trainyard import openspiel  # noqa: E402

SMALL = [("convoi", {"board": "tiny"}), ("nordic", {"map": "tiny"}), ("express", {"map": "tiny"})]
DUEL = Path(__file__).parents[3] / "examples" / "duel.json"
SMALL += [("chicago", {}), ("express", {"map": "tiny", "players": 3})]


def draw(state, rng):
    outcomes, chances = zip(*state.chance_outcomes(), strict=True)
    state.apply_action(int(rng.choice(outcomes, p=chances)))


def play(state, rng):
    """Random play to the end; every position on the way."""
    while not state.is_terminal():
        yield state
        if state.is_chance_node():
            draw(state, rng)
        else:
            state.apply_action(int(rng.choice(state.legal_actions())))


@pytest.mark.parametrize(("name", "settings"), SMALL, ids=str)
def test_their_random_simulation(name, settings):
    game = openspiel.game(name, **settings)
    pyspiel.random_sim_test(game, num_sims=1, serialize=False, verbose=False)


@pytest.mark.parametrize(("name", "settings"), SMALL, ids=str)
def test_chance_is_explicit_and_what_a_player_cannot_know_is_redealt(name, settings):
    rng = np.random.default_rng(3)
    game = openspiel.game(name, **settings)
    state = game.new_initial_state()
    chances = others = 0
    for count, now in enumerate(play(state, rng)):
        if now.is_chance_node():
            chances += 1
            assert sum(chance for _, chance in now.chance_outcomes()) == pytest.approx(1)
        elif count % 7 == 0:
            player = now.current_player()
            other = now.resample_from_infostate(player, rng.random)
            assert other.information_state_string(player) == now.information_state_string(player)
            assert other.legal_actions() == now.legal_actions()
            others += (other.bytes != now.bytes).any()
    assert chances > 0
    assert others > 0
    assert any(state.returns())
    if game.get_type().utility == pyspiel.GameType.Utility.ZERO_SUM:
        assert sum(state.returns()) == 0


def test_a_clone_is_a_position_of_its_own():
    rng = np.random.default_rng(0)
    state = openspiel.game("express", map="tiny").new_initial_state()
    for count, _ in enumerate(play(state, rng)):
        if count == 20:
            break
    before = str(state), state.bytes.copy(), list(state.memory)
    other = state.clone()
    list(play(other, rng))
    assert str(state) == before[0]
    assert (state.bytes == before[1]).all()
    assert state.memory == before[2]


def test_games_of_the_registry():
    game = pyspiel.load_game("trainyard", {"ruleset": "nordic:map=tiny"})
    assert game.num_players() == 2
    with pytest.raises(trainyard.Error, match="did you mean tiny"):
        openspiel.game("nordic", map="tinny")


def test_names_of_actions_are_ours():
    state = openspiel.game("express", map="tiny").new_initial_state()
    rng = np.random.default_rng(0)
    while state.is_chance_node():
        draw(state, rng)
    names = [state.action_to_string(action) for action in state.legal_actions()]
    assert all(name.startswith("keep ") for name in names)


def test_mcts_and_is_mcts_play():
    rng = np.random.RandomState(1)
    game = openspiel.game("express", map="tiny")
    evaluator = mcts.RandomRolloutEvaluator(1, rng)
    bots = [
        mcts.MCTSBot(game, 1.4, 6, evaluator, random_state=rng),
        ismcts.ISMCTSBot(game, evaluator, 1.4, 6, random_state=rng),
    ]
    state = game.new_initial_state()
    decisions = 0
    while not state.is_terminal() and decisions < 8:
        if state.is_chance_node():
            draw(state, rng)
        else:
            action = bots[state.current_player()].step(state)
            assert action in state.legal_actions()
            state.apply_action(action)
            decisions += 1


def size_of(game, limit):
    """Positions of a game, up to the limit."""
    count, stack = 0, [game.new_initial_state()]
    while stack and count < limit:
        state = stack.pop()
        count += 1
        if not state.is_terminal():
            chance = state.is_chance_node()
            next_ = [a for a, _ in state.chance_outcomes()] if chance else state.legal_actions()
            stack += [state.child(action) for action in next_]
    return count


def test_exploitability_of_an_endgame():
    game = openspiel.game("express", map="tiny")
    rng = np.random.default_rng(5)
    positions = [state.clone() for state in play(game.new_initial_state(), rng)]
    # The earliest of the last positions that leaves a small game with decisions of both players.
    endgames = [game.endgame(state) for state in positions[-24:] if not state.is_chance_node()]
    small = next(endgame for endgame in endgames if 20 < size_of(endgame, 1500) < 1500)
    uniform = exploitability.nash_conv(small, policy.UniformRandomPolicy(small))
    assert uniform >= 0
    solver = cfr.CFRSolver(small)
    for _ in range(10):
        solver.evaluate_and_update_policy()
    assert exploitability.nash_conv(small, solver.average_policy()) <= uniform + 1e-9


def duel(deals):
    return openspiel.game("express", map=str(DUEL), first_player="seat0", deals=deals)


def test_joined_deals_are_those_of_single_draws():
    """Six tickets, three each: 720 orders, 20 deals."""
    state = duel("joined").new_initial_state()
    chances = [chance for _, chance in state.chance_outcomes()]
    assert len(chances) == 20
    assert chances == pytest.approx([1 / 20] * 20)
    dealt = {state.child(outcome).bytes.tobytes() for outcome, _ in state.chance_outcomes()}
    single = duel("single").new_initial_state()
    rng = np.random.default_rng(3)
    for _ in range(50):
        drawn = single.clone()
        while drawn.is_chance_node():
            draw(drawn, rng)
        assert drawn.bytes.tobytes() in dealt


def test_deals_are_single_or_joined():
    with pytest.raises(trainyard.Error, match="'single' or 'joined'"):
        duel("both")


def test_joined_deals_are_bounded(monkeypatch):
    monkeypatch.setattr(openspiel, "_JOINED_MAX", 500)
    with pytest.raises(trainyard.Error, match="small maps"):
        openspiel.game("chicago", deals="joined").new_initial_state().chance_outcomes()


def test_cfr_solves_a_game_with_hidden_hands(monkeypatch):
    """From the first player's tickets on, or with TRAINYARD_LONG from the beginning."""
    monkeypatch.syspath_prepend(str(DUEL.parent))
    from solve import solve

    game = duel("joined")
    if os.environ.get("TRAINYARD_LONG", "0") == "0":
        state = duel("single").new_initial_state()
        for _ in range(3):
            draw(state, np.random.default_rng(1))
        game = game.endgame(state)
    found = [gain for _, gain, _ in solve(game, 2)]
    assert 0.5 < found[0] < 4
    assert 0 <= found[2] < 0.5 * found[0]
