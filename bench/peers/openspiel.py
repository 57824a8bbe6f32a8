"""OpenSpiel: connect_four, one state, from Python, with the observation of every decision."""

from __future__ import annotations

import random

from peer import missing, serve

try:
    import pyspiel
except ImportError as error:
    missing(error)

game = pyspiel.load_game("connect_four")
state = game.new_initial_state()
rng = random.Random(0)


def turn() -> None:
    global state
    for _ in range(64):
        if state.is_terminal():
            state = game.new_initial_state()
        state.observation_tensor(state.current_player())
        legal = state.legal_actions()
        state.apply_action(legal[int(rng.random() * len(legal))])


serve("OpenSpiel connect_four, 1 state, from Python", 64, turn)
