"""The client, as OpenEnv's tools look for it."""

from trainyard.openenv import Client

__all__ = ["Client"]
