"""The exercises of the lesson on the heads of today's models.

Those about heads stand in ``sharing_and_streaming.py``; here are those about whole models.
"""

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor

from mha_lib import MultiHeadAttention
from mha_lib.classroom.exercises.judge import (
    Answer,
    Arguments,
    Draw,
    Exercise,
    Judged,
    Verdict,
    describe,
    result_of,
    say,
    together,
)
from mha_lib.classroom.exercises.mistakes import Step, nothing_done
from mha_lib.classroom.exercises.sharing_and_streaming import SHARING, STREAMING, draw_shared_heads

# Gives a device, of so many heads and devices, its first head and the one after its last.
Share = Callable[[int, int, int], tuple[float, float]]


def draw_cache_sizes(draw: Draw) -> Arguments:
    """Layers, D, H, G, tokens, batch and bits."""
    heads, kv_heads = draw_shared_heads(draw)
    layers, head_dim, tokens = draw.sizes(7, 11, 13)
    batch, bits = draw.number(2, 3), 8 * 2 ** draw.number(0, 2)
    return layers, heads * head_dim, heads, kv_heads, 17 * tokens, batch, bits


def draw_devices(draw: Draw) -> Arguments:
    """H, G, d and devices that divide G, or only H, of which there may be more than G, or neither."""
    heads, kv_heads, devices = draw.in_turn(
        (12, 4, 2), (12, 6, 4), (8, 2, 4), (18, 6, 3), (15, 5, 2), (12, 3, 6), (20, 10, 5), (24, 2, 8)
    )
    return heads, kv_heads, draw.number(7, 9), devices


def count_bytes(
    num_layers: int,
    num_hiddens: int,
    num_heads: int,
    num_kv_heads: int,
    num_tokens: int,
    batch: int,
    bits: int,
    *,
    layers: Callable[[int], int] = lambda num_layers: num_layers,
    samples: Callable[[int], int] = lambda batch: batch,
    tokens: Callable[[int], int] = lambda num_tokens: num_tokens,
    heads: Callable[[int, int], int] = lambda num_heads, num_kv_heads: num_kv_heads,
    width: Callable[[int, int], int] = lambda num_hiddens, num_heads: num_hiddens // num_heads,
    kinds: int = 2,
    size: Callable[[int], float] = lambda bits: bits / 8,
    unit: float = 1,
) -> float:
    """The bytes of keys and values in all layers; each keyword replaces one step by a mistake."""
    kept = heads(num_heads, num_kv_heads) * width(num_hiddens, num_heads)
    kept *= layers(num_layers) * samples(batch) * tokens(num_tokens)
    return kinds * kept * size(bits) / unit


def between(edge: Callable[[int, int, int], float]) -> Share:
    """Gives each device the heads from its own edge up to that of the next device."""
    return lambda device, heads, devices: (edge(device, heads, devices), edge(device + 1, heads, devices))


share_evenly = between(lambda device, heads, devices: device * (heads // devices))


def plan_shards(
    num_heads: int,
    num_kv_heads: int,
    head_dim: int,
    num_devices: int,
    *,
    share: Share = share_evenly,
    kv_share: Share = share_evenly,
    kv_heads: Callable[[int, int], int] = lambda num_heads, num_kv_heads: num_kv_heads,
    device_of: Callable[[int], int] = lambda number: number,
    end_of: Callable[[float, float], float] = lambda first, end: end,
    unit: Callable[[int], int] = lambda head_dim: head_dim,
    deliver: Step = nothing_done,
) -> Tensor:
    """(devices, 4), or (0, 4); each keyword replaces one step by a mistake."""
    if num_kv_heads % num_devices:
        return torch.zeros(0, 4)
    shared_kv_heads, width = kv_heads(num_heads, num_kv_heads), unit(head_dim)
    plan = []
    for device in map(device_of, range(num_devices)):
        spans = share(device, num_heads, num_devices), kv_share(device, shared_kv_heads, num_devices)
        plan.append([width * edge for first, end in spans for edge in (first, end_of(first, end))])
    return deliver(torch.tensor(plan))


def configuration(width: int, heads: int, has_bias: bool, positions: str, **rest: int) -> dict[str, Any]:
    """The configuration of a model, with the usual names of its entries."""
    sizes = {"hidden_size": width, "num_attention_heads": heads}
    return sizes | {"attention_bias": has_bias, "positions": positions} | rest


MODELS = {  # as their papers describe them
    "Llama 2 7B": configuration(4096, 32, False, "rotary"),
    "GPT-2 small": configuration(768, 12, True, "learned"),
    "BLOOM 176B": configuration(14336, 112, True, "alibi"),
    "Llama 2 70B": configuration(8192, 64, False, "rotary", num_key_value_heads=8),
    "PaLM 540B": configuration(18432, 48, False, "rotary", num_key_value_heads=1, head_dim=256),
}


def describe_model(config: Mapping[str, Any]) -> MultiHeadAttention:
    return MultiHeadAttention(
        config["hidden_size"],
        config["num_attention_heads"],
        bias=config["attention_bias"],
        head_dim=config.get("head_dim"),
        num_kv_heads=config.get("num_key_value_heads"),
        rotary=config["positions"] == "rotary",
    )


def sizes_of(layer: MultiHeadAttention) -> dict[str, Any]:
    """The arguments from which a layer is built, by their names."""
    names = ("num_hiddens", "num_heads", "num_kv_heads", "head_dim", "value_head_dim")
    sizes: dict[str, Any] = {name: getattr(layer, name) for name in names}
    inputs = (layer.query_size, layer.key_size, layer.value_size)
    sizes["rotary"] = layer.rotary is not None
    return sizes | {"bias": layer.W_q.bias is not None, "input_sizes": inputs}


def following(sizes: dict[str, Any]) -> dict[str, Any]:
    """Sizes that follow from others where nobody gives them: one wrong size makes these wrong too."""
    return {
        "num_kv_heads": sizes["num_heads"],
        "head_dim": sizes["num_hiddens"] // sizes["num_heads"],
        "value_head_dim": sizes["head_dim"],
        "input_sizes": (sizes["num_hiddens"],) * 3,
    }


class DescribeModel(Judged):
    """The student builds the layers of known models, on a device that keeps shapes but no numbers."""

    mistakes = ("layer_wanted", "entry_missing", *sizes_of(MultiHeadAttention(2, 1)))
    also_right = ("described",)

    def judge_function(self, given: Answer) -> Verdict:
        for model, config in MODELS.items():
            with torch.device("meta"):
                layer, wanted = result_of(given, (dict(config),)), describe_model(config)
            if verdict := self.judge_layer(layer, wanted, model):
                return verdict
        return self.solved("described", models=say("between").join(MODELS))

    def judge_layer(self, layer: Any, wanted: MultiHeadAttention, model: str) -> Verdict | None:
        if isinstance(layer, Verdict):
            if layer.raised is not KeyError:
                return layer
            hint = self.mistaken("entry_missing")
            return hint._replace(sentence=f"{layer.sentence} {hint.sentence}")
        if not isinstance(layer, MultiHeadAttention):
            return self.mistaken("layer_wanted", given=describe(layer))
        found, right = sizes_of(layer), sizes_of(wanted)
        found_following, right_following = following(found), following(right)
        mistakes = [
            self.mistaken(name, model=model, given=found[name], wanted=right[name])
            for name in right
            if found[name] != right[name]
            and (found[name], right[name]) != (found_following.get(name), right_following.get(name))
        ]
        return together(*mistakes[:2]) if mistakes else None


EXERCISES: tuple[Judged, ...] = (
    Exercise("cache_bytes", count_bytes, draw_cache_sizes).recognising(
        values_forgotten={"kinds": 1},
        queries_kept=(
            {"kinds": 3},
            {"kinds": 1, "heads": lambda num_heads, num_kv_heads: 2 * num_kv_heads + num_heads},
        ),
        heads_of_queries=(
            {"heads": lambda num_heads, num_kv_heads: num_heads},
            {"heads": lambda *_: 1, "width": lambda num_hiddens, num_heads: num_hiddens},
        ),  # also for D / G numbers in each of G heads
        group_size={"heads": lambda num_heads, num_kv_heads: num_heads // num_kv_heads},
        heads_missing={"heads": lambda *_: 1},
        width_missing={"width": lambda *_: 1},
        width_of_the_model={"width": lambda num_hiddens, num_heads: num_hiddens},
        in_bits={"size": lambda bits: bits},
        numbers_counted={"size": lambda bits: 1},
        bits_ignored=({"size": lambda bits: 2}, {"size": lambda bits: 4}),
        multiplied_by_8={"size": lambda bits: 8 * bits},
        layers_missing={"layers": lambda num_layers: 1},
        batch_missing={"samples": lambda batch: 1},
        tokens_missing={"tokens": lambda num_tokens: 1},
        tokens_squared={"tokens": lambda num_tokens: num_tokens**2},
        in_gigabytes=tuple({"unit": base**power} for base in (1000, 1024) for power in (3, 2, 1)),
    ),
    *SHARING,
    Exercise(
        "plan_shards",
        plan_shards,
        draw_devices,
        symptoms={"kv_heads_cut": lambda result, right: result.numel() > right.numel() == 0},
        rounds=8,
    ).recognising(
        heads_counted={"unit": lambda head_dim: 1},
        kv_heads_as_heads={"kv_heads": lambda num_heads, num_kv_heads: num_heads},
        all_kv_heads_everywhere={"kv_share": lambda device, heads, devices: (0, heads)},
        last_included={"end_of": lambda first, end: end - 1},
        width_for_end={"end_of": lambda first, end: end - first},
        devices_for_share=dict.fromkeys(
            ("share", "kv_share"), between(lambda device, heads, devices: device * devices)
        ),
        devices_from_1={"device_of": lambda number: number + 1},
        same_for_all={"device_of": lambda number: 0},
        kv_heads_first={"deliver": lambda plan: plan[:, [2, 3, 0, 1]]},
        starts_and_ends={"deliver": lambda plan: plan[:, [0, 2, 1, 3]]},
        devices_in_columns={"deliver": lambda plan: plan.mT},
        pairs_nested={"deliver": lambda plan: plan.unflatten(1, (2, 2))},
    ),
    DescribeModel("describe_model"),
    *STREAMING,
)
