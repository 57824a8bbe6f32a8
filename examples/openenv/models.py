"""The action and the observation, as OpenEnv's tools look for them."""

from trainyard.openenv import Play, Progress, Seen

__all__ = ["Play", "Progress", "Seen"]
