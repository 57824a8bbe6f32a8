"""EnvPool: Taxi-v3, which is no board game, 1024 environments in one thread."""

from __future__ import annotations

import numpy as np
from peer import missing, serve

try:
    import envpool
except ImportError as error:
    missing(error)

SLOTS = 1024
env = envpool.make("Taxi-v3", env_type="gymnasium", num_envs=SLOTS, num_threads=1)
env.reset()
rng = np.random.default_rng(0)

serve(
    f"EnvPool Taxi-v3, {SLOTS} environments, 1 thread",
    SLOTS,
    lambda: env.step(rng.integers(6, size=SLOTS)),
)
