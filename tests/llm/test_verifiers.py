"""verifiers: its validator on our tasks, and whole episodes of its environments with a model that
is a small server here."""

from __future__ import annotations

import asyncio
import json
import os
import re
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
import verifiers.v1 as vf

PLUGIN = "trainyard-verifiers"


class Model(BaseHTTPRequestHandler):
    """Takes the last choice that a question names; every fifth reply is nonsense."""

    replies = 0
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        question = asked["messages"][-1]["content"]
        assert "<answer>" in asked["messages"][0]["content"]
        type(self).replies += 1
        choices = re.findall(r"\[([a-z][^\]]*)\]", question.partition("Choices")[2])
        said = f"Hm.\n<answer>{choices[-1]}</answer>" if self.replies % 5 else "What shall I do?"
        message = {"role": "assistant", "content": said}
        reply = {
            "id": "1",
            "object": "chat.completion",
            "created": 0,
            "model": asked["model"],
            "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
        }
        body = json.dumps(reply).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture(scope="module")
def model():
    with ThreadingHTTPServer(("127.0.0.1", 0), Model) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        os.environ["FAKE_KEY"] = "none"
        url = f"http://127.0.0.1:{server.server_port}/v1"
        yield vf.ModelContext(
            model="fake", client=vf.EvalClientConfig(base_url=url, api_key_var="FAKE_KEY")
        )
        server.shutdown()


def environment(**taskset) -> vf.Env:
    config_type = vf.env_config_type(PLUGIN)
    config = config_type.model_validate({"taskset": {"id": PLUGIN, **taskset}})
    return vf.load_environment(config)


def episode(env: vf.Env, model: vf.ModelContext, index: int) -> vf.Episode:
    async def run() -> vf.Episode:
        async with env.serving():
            task = next(iter(env.taskset.skip(index).take(1)))
            return await env.run_episode(task, model)

    return asyncio.run(run())


def test_tasks_are_seeds():
    taskset = environment(ruleset="express", split="test").taskset
    tasks = list(taskset.take(3))
    assert [task.data.seed for task in tasks] == [2000000, 2000001, 2000002]
    assert len({task.key for task in tasks}) == 3
    assert tasks[0].data.seats == [None, "expert"]


@pytest.mark.parametrize(
    ("ruleset", "models"), [("convoi:board=tiny", 1), ("express:map=tiny", 2), ("chicago", 1)]
)
def test_whole_episodes(model, ruleset, models):
    env = environment(ruleset=ruleset, models=models, partner="random")
    played = episode(env, model, 4)
    assert played.ok, played.errors
    seats = sorted(trace.agent.name for trace in played.traces)
    assert seats == [f"seat{i}" for i in range(models)]
    for trace in played.traces:
        assert 0 <= trace.reward <= 1
        assert trace.num_turns > 3
        assert trace.info["metrics"]
    if models == 2:
        assert sum(trace.reward for trace in played.traces) in (0, 1)
    told = json.dumps([m.model_dump() for m in played.traces[0].branches[-1].messages])
    assert "Your last answer:" in told


def test_wrong_settings_are_named():
    for wrong in ({"models": 3}, {"partner": "nobody"}, {"split": "x"}, {"ruleset": "chess"}):
        with pytest.raises(Exception, match=r"allowed|chess"):
            next(iter(environment(**wrong).taskset))


def test_validator_accepts_tasks(tmp_path):
    tool = Path(sys.executable).parent / "vf-validate"
    command = [tool, PLUGIN, "--only-gold", "--runtime.type", "subprocess", "-o", str(tmp_path)]
    done = subprocess.run(
        [*command, "--select.limit", "5", "--taskset.ruleset", "convoi:board=tiny"],
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    rows = [json.loads(line) for path in tmp_path.rglob("results.jsonl") for line in path.open()]
    assert len(rows) == 5
    assert all(row["valid"] for row in rows), rows
