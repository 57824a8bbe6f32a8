"""Behaviour cloning: a network imitates the decisions of a data set, and then plays.

    trainyard sim convoi:board=tiny,hints=true --agent expert --episodes 2000 --log logs
    trainyard export logs --to parquet -o data --without-text
    python examples/clone_expert.py data --minutes 5

Needs pyarrow and torch. The last episodes of the data set are held back; what is printed at the end
is the agreement with them, and the results of the clone, of what it imitates, and of `random`.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from time import monotonic

import numpy as np
import pyarrow.parquet as parquet
import torch
import trainyard
from torch import nn


class Data:
    """Rows, masks and actions of a data set, and which of them are held back."""

    def __init__(self, place: Path, held: float = 0.1) -> None:
        table = parquet.read_table(
            place / "decisions.parquet", columns=["episode", "obs", "mask", "action"]
        )
        self.rules = trainyard.Ruleset(table.schema.metadata[b"ruleset"].decode())
        self.agents = table.schema.metadata[b"agents"].decode().split(", ")
        wanted = f"{self.rules.schema_hash:016x}"
        if table.schema.metadata[b"schema_hash"].decode() != wanted:
            raise SystemExit(f"{place}: the rows are of another version of {self.rules.spec}")
        self.obs = self._bytes(table["obs"]).copy()
        bits = np.unpackbits(self._bytes(table["mask"]), axis=1, bitorder="little")
        self.mask = bits[:, : self.rules.action_count].astype(bool)
        self.action = table["action"].to_numpy().astype(np.int64)
        episode = table["episode"].to_numpy()
        self.train = np.flatnonzero(episode < episode.max() * (1 - held))
        self.test = np.flatnonzero(episode >= episode.max() * (1 - held))

    @staticmethod
    def _bytes(column) -> np.ndarray:
        joined = b"".join(column.to_pylist())
        return np.frombuffer(joined, dtype=np.uint8).reshape(len(column), -1)


class Clone(nn.Module):
    """From a row to the logarithms of chances, forbidden actions left out."""

    def __init__(self, rules: trainyard.Ruleset, width: int = 256) -> None:
        super().__init__()
        self.rules = rules
        self.body = nn.Sequential(
            nn.Linear(rules.expanded_size, width),
            nn.ReLU(),
            nn.Linear(width, width),
            nn.ReLU(),
            nn.Linear(width, rules.action_count),
        )

    def forward(self, obs: np.ndarray, mask: np.ndarray) -> torch.Tensor:
        scores = self.body(torch.from_numpy(self.rules.expand(obs)))
        return scores.masked_fill(~torch.from_numpy(mask), -1e9)

    @torch.no_grad()
    def best(self, obs: np.ndarray, mask: np.ndarray) -> np.ndarray:
        return self(obs, mask).argmax(dim=1).numpy()


def imitate(clone: Clone, data: Data, minutes: float, batch: int = 1024) -> int:
    """Trains for so many minutes; the number of passes through the data."""
    optimizer = torch.optim.Adam(clone.parameters(), lr=1e-3)
    chance = np.random.default_rng(0)
    begin, passes = monotonic(), 0
    while monotonic() - begin < minutes * 60:
        order = chance.permutation(data.train)
        for start in range(0, len(order), batch):
            rows = order[start : start + batch]
            scores = clone(data.obs[rows], data.mask[rows])
            loss = nn.functional.cross_entropy(scores, torch.from_numpy(data.action[rows]))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            if monotonic() - begin > minutes * 60:
                break
        passes += 1
        print(f"pass {passes}: loss {loss.item():.3f}, agreement {agreement(clone, data):.1%}")
    return passes


def agreement(clone: Clone, data: Data, most: int = 20000) -> float:
    """The share of held-back decisions that the clone takes too."""
    rows = data.test[:most]
    return float((clone.best(data.obs[rows], data.mask[rows]) == data.action[rows]).mean())


class Player:
    """The clone as an agent."""

    name = "clone"

    def __init__(self, clone: Clone) -> None:
        self.clone = clone

    def act(self, view: trainyard.View) -> int:
        return int(self.clone.best(view.row[None], view.mask[None])[0])


def main() -> None:
    parser = argparse.ArgumentParser(description="Behaviour cloning from a data set.")
    parser.add_argument("data", type=Path, help="what `trainyard export --to parquet` wrote")
    parser.add_argument("--minutes", type=float, default=4.0)
    parser.add_argument("--episodes", type=int, default=100, help="to play at the end")
    given = parser.parse_args()
    torch.manual_seed(0)
    torch.set_num_threads(1)  # the network is small: threads would wait for each other
    data = Data(given.data)
    print(f"{len(data.action)} decisions of {data.rules.spec} by {', '.join(data.agents)}")
    clone = Clone(data.rules)
    imitate(clone, data, given.minutes)
    print(f"agrees with {agreement(clone, data):.1%} of the decisions that were held back")
    seed = 5_000_000  # episodes that no data set of small seeds has
    for player in (Player(clone), data.agents[0], "random"):
        seats = [player] * data.rules.players
        results = trainyard.play(data.rules, seats, episodes=given.episodes, seed=seed)
        means = dict(zip(data.rules.metrics, results.metrics.mean(axis=0), strict=True))
        shown = ", ".join(f"{name} {value:.2f}" for name, value in list(means.items())[:3])
        print(f"{getattr(player, 'name', player):8} {shown}")


if __name__ == "__main__":
    main()
