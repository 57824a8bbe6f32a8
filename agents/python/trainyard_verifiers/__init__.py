"""The name under which verifiers finds our games: `vf-eval trainyard-verifiers`.

verifiers loads a plugin from a module without dots; the code is `trainyard.verifiers`.
"""

from trainyard.verifiers import TrainyardEnv, TrainyardHarness, TrainyardTaskset

__all__ = ["TrainyardEnv", "TrainyardHarness", "TrainyardTaskset"]
