"""TorchRL through its own wrappers."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.slow
torchrl_envs = pytest.importorskip("torchrl.envs")


@pytest.mark.parametrize("settings", [{"board": "tiny"}, {"board": "tiny", "max_steps": 5}])
def test_gym_wrapper(settings):
    import trainyard.gym

    env = torchrl_envs.GymWrapper(
        trainyard.gym.Env("convoi", mask="obs", **settings), categorical_action_encoding=True
    )
    torchrl_envs.utils.check_env_specs(env, seed=0)
    masked = torchrl_envs.TransformedEnv(env, torchrl_envs.ActionMask())
    torchrl_envs.utils.check_env_specs(masked, seed=0)
    rollout = masked.rollout(200, break_when_any_done=False)
    actions, masks = rollout["action"], rollout["action_mask"]
    assert masks.gather(-1, actions.unsqueeze(-1)).all()


@pytest.mark.parametrize("mode", ["SameStep", "Disabled"])
def test_vector_env_through_the_gym_wrapper(mode):
    import trainyard.gym

    env = torchrl_envs.GymWrapper(
        trainyard.gym.VectorEnv("convoi", 4, board="tiny", mask="obs", autoreset_mode=mode),
        categorical_action_encoding=True,
    )
    torchrl_envs.utils.check_env_specs(env, seed=0)


@pytest.mark.parametrize("game", ["Convoi", "Nordic"])
def test_gym_env_by_its_id_with_defaults(game):
    import trainyard.gym  # noqa: F401

    env = torchrl_envs.GymEnv(f"trainyard/{game}-v0")
    torchrl_envs.utils.check_env_specs(env, seed=0)


@pytest.mark.parametrize("game", ["convoi", "nordic"])
def test_pettingzoo_wrapper_of_the_parallel_form_with_defaults(game):
    from trainyard.pettingzoo import parallel_env

    env = torchrl_envs.PettingZooWrapper(parallel_env(game))
    torchrl_envs.utils.check_env_specs(env, seed=0)
    rollout = env.rollout(50)
    actions, masks = rollout["player", "action"], rollout["player", "action_mask"]
    assert masks.gather(-1, actions.unsqueeze(-1)).all()


@pytest.mark.parametrize("form", ["aec", "parallel"])
def test_pettingzoo_wrapper(form):
    from trainyard.pettingzoo import env, parallel_env

    made = (parallel_env if form == "parallel" else env)("convoi", board="tiny", mask="obs")
    wrapped = torchrl_envs.PettingZooWrapper(
        made,
        categorical_actions=True,
        use_mask=form == "aec",
        done_on_any=False,
    )
    torchrl_envs.utils.check_env_specs(wrapped, seed=0)
