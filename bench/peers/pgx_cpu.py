"""Pgx: connect_four compiled for the processor, 1024 states that reset themselves."""

from __future__ import annotations

from typing import Any

from peer import missing, serve

try:
    import jax
    import jax.numpy as jnp
    import pgx
except ImportError as error:
    missing(error)

SLOTS = 1024
env = pgx.make("connect_four")


@jax.jit
def step(state: Any, key: Any) -> tuple[Any, Any]:
    key, draw = jax.random.split(key)
    logits = jnp.where(state.legal_action_mask, 0.0, -1e9)
    action = jax.random.categorical(draw, logits, axis=1)
    after = jax.vmap(env.step)(state, action)
    fresh = jax.vmap(env.init)(jax.random.split(key, SLOTS))
    over = after.terminated | after.truncated

    def pick(old: Any, new: Any) -> Any:
        return jnp.where(over.reshape((-1,) + (1,) * (old.ndim - 1)), new, old)

    return jax.tree_util.tree_map(pick, after, fresh), key


key = jax.random.PRNGKey(0)
state = jax.jit(jax.vmap(env.init))(jax.random.split(key, SLOTS))


def turn() -> None:
    global state, key
    state, key = step(state, key)
    state.observation.block_until_ready()


serve(f"Pgx connect_four, jit, {SLOTS} states, all processors", SLOTS, turn)
