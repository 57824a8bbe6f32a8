"""What the engine knows, from Python: boards as graphs, rules in words, what happened."""

import json

import numpy as np
import pytest
import trainyard

GAMES = ["convoi", "convoi:board=north_america", "nordic", "express", "chicago"]
DOORS = ["inproc", "shm", "zmq"]


@pytest.mark.parametrize("game", GAMES)
def test_a_board_is_a_graph(game):
    board = trainyard.Ruleset(game).board
    assert {"id", "title", "kind"} <= set(board.nodes[0])
    assert board.edge_index.shape == (2, len(board.edges))
    assert board.edge_index.max() < len(board.nodes)
    assert len({node["id"] for node in board.nodes}) == len(board.nodes)
    reached = {0}
    while True:
        more = {
            edge[end]
            for edge in board.edges
            for end, start in (("a", "b"), ("b", "a"))
            if edge[start] in reached
        } - reached
        if not more:
            break
        reached |= more
    assert len(reached) == len(board.nodes)


def test_a_map_has_its_routes_and_tickets():
    board = trainyard.Ruleset("nordic").board
    routes = [edge for edge in board.edges if edge["kind"] == "route"]
    assert (len(board.nodes), len(routes)) == (39, 81)
    ferry = next(edge for edge in routes if edge["id"] == "bergen/andalsnes")
    assert (ferry["length"], ferry["colour"], ferry["ferry"], ferry["points"]) == (
        5,
        "black",
        2,
        10,
    )
    assert board.nodes[ferry["a"]]["title"] == "Bergen"
    assert board.nodes[ferry["a"]]["y"] == pytest.approx(0.206)


def test_networkx_gets_all_of_it():
    networkx = pytest.importorskip("networkx")
    board = trainyard.Ruleset("nordic").board
    graph = board.to_networkx()
    assert graph.number_of_edges() == len(board.edges)
    assert networkx.is_connected(graph)
    assert graph.nodes[0]["title"] == board.nodes[0]["title"]


@pytest.mark.parametrize("game", GAMES)
def test_rows_are_features_of_nodes_and_edges(game):
    """Every value of the expanded row is in the graph once, but for "nowhere"."""
    with trainyard.make(game, num_envs=6, seed=3) as pool:
        for _ in range(40):
            pool.step(pool.sample())
        rules = pool.ruleset
        board = rules.board
        graph = board.observe(pool.obs)
        assert graph.nodes.shape == (6, len(board.nodes), len(board.node_features))
        assert graph.edges.shape == (6, len(board.edges), len(board.edge_features))
        expanded = rules.expand(pool.obs)
        total = graph.nodes.sum() + graph.edges.sum() + graph.rest.sum()
        nowhere = sum(
            expanded[:, f.block.expanded]
            .reshape(6, f.block.rows * f.block.columns, -1)[:, :, 0]
            .sum()
            for f in board._features
            if f.by == "values" and f.optional
        )
        assert total + nowhere == pytest.approx(expanded.sum(), rel=1e-5)


def test_a_train_stands_on_its_node():
    with trainyard.make("convoi", seed=1, ask_forced=True) as pool:
        for _ in range(30):
            pool.step(pool.sample())
        board = pool.ruleset.board
        graph = board.observe(pool.obs)
        ids = [node["id"] for node in board.nodes]
        standing = [train for train in pool.state()["trains"] if train["place"] != "depot"]
        assert standing
        for train in standing:
            channel = board.node_features.index(f"place {train['train']}")
            assert np.flatnonzero(graph.nodes[0, :, channel]).tolist() == [
                ids.index(train["place"])
            ]
        green = board.edge_features.index("green")
        lit = {board.edges[i]["light"] for i in np.flatnonzero(graph.edges[0, :, green])}
        assert lit == set(pool.state()["green"])


@pytest.mark.parametrize("game", GAMES)
def test_rules_are_a_page(game):
    rules = trainyard.Ruleset(game)
    page = rules.rules_text()
    assert page.startswith("# How to play ")
    assert "## The settings of this game" in page
    assert f"- players = {rules.players}: number of players" in page


def test_a_page_knows_its_settings():
    assert "- clock = 8: " in trainyard.Ruleset("convoi", clock=8).rules_text()


# ---- Events


def told(pool, seat=None):
    return [event["text"] for event in pool.events(0, seat)]


@pytest.mark.parametrize("backend", DOORS)
def test_what_happened_is_told_since_the_last_row(backend):
    with trainyard.make(
        "nordic", seed=3, seats=[None, "expert"], events=True, backend=backend
    ) as pool:
        first = told(pool)
        assert "seat 0 is dealt a card" not in first
        assert first.count("seat 1 is dealt a card") == 4
        assert told(pool) == first
        dealt = [event for event in pool.events() if event["event"] == "deal"]
        assert [event["hidden"] for event in dealt] == [event["seat"] == 1 for event in dealt]
        assert all(("card" in event) == (event["seat"] == 0) for event in dealt)
        pool.act(pool.legal()[0])
        assert told(pool) == []
        while not pool.legal()[0].startswith(("draw", "tickets")):
            pool.act(pool.legal()[0])
        before = pool.text()
        assert before.startswith("Since your last decision:\n")
        pool.act("draw")
        assert [event["event"] for event in pool.events()] == ["draw"]
        assert pool.events()[0]["card"] in told(pool)[0]
        pool.act("draw")
        assert [event["event"] for event in pool.events()][:2] == ["draw", "turn"]
        assert pool.events().missed == 0


@pytest.mark.parametrize("backend", DOORS)
def test_events_are_asked_for(backend):
    with (
        trainyard.make("express", backend=backend) as pool,
        pytest.raises(trainyard.Error, match=r"events=[Tt]rue"),
    ):
        pool.events()


def test_every_door_tells_the_same():
    def episode(backend):
        lines = []
        with trainyard.make("chicago", seed=5, events=True, backend=backend) as pool:
            for _ in range(200):
                lines.append(json.dumps(pool.events()))
                pool.step(pool.sample())
        return lines

    assert episode("inproc") == episode("shm") == episode("zmq")


@pytest.mark.parametrize("autoreset", ["next_step", "same_step"])
def test_an_ending_is_told_once(autoreset):
    ends = 0
    with trainyard.make(
        "express:map=tiny", seed=1, events=True, autoreset=autoreset, seats=[None, "random"]
    ) as pool:
        while pool.episode[0] < 3:
            ends += sum(event["event"] == "end" for event in pool.events())
            pool.step(pool.sample())
        ends += sum(event["event"] == "end" for event in pool.events())
    assert ends == 3


def test_a_restored_slot_has_no_history():
    with trainyard.make("express", seed=1, events=True) as pool:
        assert pool.events()
        pool.restore(pool.save())
        assert pool.events() == []


def test_what_is_not_kept_is_counted():
    """Seat 1 sees nothing of episodes that are given up while seat 0 is asked."""
    with trainyard.make("express", seed=1, events=True, first_player="seat0") as pool:
        for _ in range(30):
            pool.reset()
        while pool.seat[0] == 0:
            pool.step(pool.sample())
        assert len(pool.events()) == 256
        assert pool.events().missed > 0
        assert "earlier events are not kept" in pool.text()
