"""Hanabi Learning Environment: one game of two, from Python, with the encoded observation of every
decision."""

from __future__ import annotations

import random

from peer import missing, serve

try:
    from hanabi_learning_environment import pyhanabi
except ImportError as error:
    missing(error)

game = pyhanabi.HanabiGame({"players": 2})
encoder = pyhanabi.ObservationEncoder(game)
state = game.new_initial_state()
rng = random.Random(0)


def turn() -> None:
    global state
    decisions = 0
    while decisions < 64:
        if state.is_terminal():
            state = game.new_initial_state()
        player = state.cur_player()
        if player == pyhanabi.CHANCE_PLAYER_ID:
            state.deal_random_card()
            continue
        encoder.encode(state.observation(player))
        legal = state.legal_moves()
        state.apply_move(legal[int(rng.random() * len(legal))])
        decisions += 1


serve("Hanabi Learning Environment, 1 state, from Python", 64, turn)
