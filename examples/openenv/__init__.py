"""Train board games for OpenEnv: what a user of the environment imports."""

from trainyard.openenv import Client, Play, Seen

__all__ = ["Client", "Play", "Seen"]
