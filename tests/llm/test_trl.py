"""TRL: its trainer takes a step with our environments, and a model that calls their tools."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
import trainyard
import trl
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from trainyard.trl import environment_factory
from transformers import PreTrainedTokenizerFast, Qwen3Config, Qwen3ForCausalLM
from transformers.utils import get_json_schema

SPECIAL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
ASKED = '{"name": "play", "arguments": {"actions": ["turn.end"]}}'
CALL = f"<tool_call>\n{ASKED}\n</tool_call><|im_end|>"


@pytest.fixture(scope="module")
def tokenizer() -> PreTrainedTokenizerFast:
    """Bytes, merged as far as the rules of our games suggest; Qwen's template of conversations."""
    bare = Tokenizer(models.BPE())
    bare.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    bare.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=2000, special_tokens=SPECIAL, initial_alphabet=alphabet, show_progress=False
    )
    bare.train_from_iterator([trainyard.Ruleset("convoi").rules_text()], trainer)
    template = Path(trl.__file__).parent / "chat_templates/qwen3.jinja"
    return PreTrainedTokenizerFast(
        tokenizer_object=bare,
        eos_token="<|im_end|>",
        pad_token="<|endoftext|>",
        chat_template=template.read_text(),
    )


class Scripted(Qwen3ForCausalLM):
    """A network that learns, and says what the test wants."""

    said: list[int]
    end: int
    answers = 0

    def generate(self, input_ids, **_):
        """Calls a tool, and has nothing to say to what the tool answers."""
        asked_first = self.answers % 2 == 0
        type(self).answers += 1
        tokens = self.said if asked_first else [self.end]
        more = torch.tensor(tokens).repeat(len(input_ids), 1)
        return torch.cat([input_ids, more], dim=1)


def test_tools_have_schemas():
    env = environment_factory("convoi", board="tiny")()
    play = get_json_schema(env.play)["function"]
    assert play["parameters"]["properties"]["actions"]["items"] == {"type": "string"}
    assert get_json_schema(env.look)["function"]["description"]


def test_episode_by_hand():
    factory = environment_factory("convoi", board="tiny", partner="random")
    first, second = factory(), factory()
    shown = first.reset(seed=7, prompt="ignored")
    assert "Choices" in shown
    assert second.reset(split="train", index=7) == shown
    assert first.play(["fly"]).startswith("Taken: nothing. 'fly' is not legal now")
    assert first.look() == second.look()
    assert first.play(["turn.end"]).startswith("Taken: turn.end.")
    while "The game is over" not in first.play(["turn.end"]):
        names = first._table.look().names
        if names and "turn.end" not in names:
            first.play(names[:1])
    assert 0 <= first.get_reward() <= 1


def test_trainer_takes_a_step(tokenizer, tmp_path):
    config = Qwen3Config(
        vocab_size=len(tokenizer),
        hidden_size=16,
        intermediate_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        num_key_value_heads=1,
        head_dim=8,
        max_position_embeddings=32768,
    )
    model = Scripted(config)
    model.said = tokenizer.encode(CALL, add_special_tokens=False)
    model.end = tokenizer.eos_token_id
    made = []
    factory = environment_factory("convoi", board="tiny", partner="random")

    def counted():
        made.append(factory())
        return made[-1]

    trainer = trl.GRPOTrainer(
        model=model,
        processing_class=tokenizer,
        environment_factory=counted,
        args=trl.GRPOConfig(
            output_dir=str(tmp_path),
            max_steps=1,
            per_device_train_batch_size=2,
            num_generations=2,
            max_completion_length=8192,
            report_to=[],
            use_cpu=True,
            bf16=False,
        ),
    )
    trainer.train()
    logged = [row for row in trainer.state.log_history if "reward" in row]
    assert "rewards/TrainyardEnv/mean" in logged[-1], json.dumps(logged)
    assert logged[-1]["tools/call_frequency"] == 1
    assert logged[-1]["tools/failure_frequency"] == 0
    # Two rollouts of one pool: each has ended its first turn.
    assert [env._table.look().text().count("turn 1") for env in made[:2]] == [0, 0]
