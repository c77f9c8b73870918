"""How fast is a decoded token? mha_lib beside bare attention, and beside transformers with both its caches.

    python -m benchmarks.decoding            every size
    python -m benchmarks.decoding --record   keep the table in benchmarks/results/

Bare attention is what anybody writes: four linear maps, one PyTorch attention, and two writes into memory
that was taken at once. All hold the same weights and get the same tokens, and a check ensures that they give
the same outputs. They take turns; a ratio is a quotient of medians, and the brackets hold the quartiles of
the ratios of single rounds. Where queries and keys are turned, the layer is a Llama's, and so are its peers;
bare attention turns nothing.
"""

import argparse
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F
from transformers import DynamicCache, LlamaConfig, StaticCache
from transformers.models.llama.modeling_llama import LlamaAttention, LlamaRotaryEmbedding

from benchmarks.attention import RESULTS, quartiles, ratio, seconds
from benchmarks.machine import describe_machine
from mha_lib import KVCache, MultiHeadAttention
from mha_lib.from_transformers import from_llama

# D, H, key-value heads, tokens held; and the ratio to bare attention at most, without and with rotary.
SIZES = [(128, 4, 4, 64), (512, 8, 8, 512), (512, 8, 2, 512), (512, 8, 2, 4096), (1024, 16, 4, 2048)]
MOST = {False: 1.10, True: 1.25}
MOST_AT = {(512, 8, 2, 4096): 0.80}  # without rotary
DECODED = 8  # tokens that a round decodes one after another

Decode = Callable[[], list[Tensor]]


def contenders(size: tuple[int, int, int, int], rotary: bool) -> dict[str, Decode]:
    """Functions to compare: each call decodes the same tokens after the same text."""
    width, num_heads, num_kv_heads, held = size
    torch.manual_seed(0)
    config = LlamaConfig(
        hidden_size=width,
        num_attention_heads=num_heads,
        num_key_value_heads=num_kv_heads,
        num_hidden_layers=1,
        max_position_embeddings=held + DECODED,
    )
    config._attn_implementation = "sdpa"
    theirs = LlamaAttention(config, layer_idx=0).eval()
    turned = from_llama(theirs)
    plain = MultiHeadAttention(width, num_heads, num_kv_heads=num_kv_heads).eval()
    plain.load_state_dict(turned.state_dict())
    layer = turned if rotary else plain
    text, tokens = torch.randn(1, held, width), torch.randn(DECODED, 1, 1, width)
    cache = KVCache(layer, 1, held + DECODED)
    layer(text, cache=cache, is_causal=True)

    def mha_lib() -> list[Tensor]:
        cache.crop(held)
        return [layer(token, cache=cache, is_causal=True) for token in tokens]

    bare_cache = KVCache(plain, 1, held + DECODED)
    plain(text, cache=bare_cache, is_causal=True)
    keys, values = bare_cache.keys, bare_cache.values
    assert keys is not None
    assert values is not None

    def heads(x: Tensor) -> Tensor:
        return x.view(1, 1, -1, plain.head_dim).transpose(1, 2)

    def bare() -> list[Tensor]:
        outputs = []
        for end, token in enumerate(tokens, start=held + 1):
            keys[:, :, end - 1 : end] = heads(plain.W_k(token))
            values[:, :, end - 1 : end] = heads(plain.W_v(token))
            mixed = F.scaled_dot_product_attention(
                heads(plain.W_q(token)), keys[:, :, :end], values[:, :, :end], enable_gqa=True
            )
            outputs.append(plain.W_o(mixed.transpose(1, 2).flatten(2)))
        return outputs

    compared: dict[str, Decode] = {"bare": bare, "mha_lib": mha_lib}
    if rotary:
        embed = LlamaRotaryEmbedding(config)
        for kind in (DynamicCache, StaticCache):
            compared[kind.__name__] = with_their_cache(theirs, embed, kind, text, tokens)
    return compared


def with_their_cache(theirs: Any, embed: Any, kind: type, text: Tensor, tokens: Tensor) -> Decode:
    held = text.shape[1]
    options = {"max_cache_len": held + DECODED} if kind is StaticCache else {}
    kept = kind(config=theirs.config, **options)
    order = torch.ones(held, held, dtype=torch.bool).tril()[None, None]
    if kind is StaticCache:  # it has places for tokens to come, too
        order = F.pad(order, (0, DECODED))
    theirs(text, embed(text, torch.arange(held)[None]), order, kept)

    def decode() -> list[Tensor]:
        if kind is StaticCache:
            kept.layers[0].cumulative_length.fill_(held)
        else:
            kept.crop(held - kept.get_seq_length())
        outputs = []
        for place, token in enumerate(tokens, start=held):
            mask = None
            if kind is StaticCache:
                mask = (torch.arange(held + DECODED) <= place)[None, None, None]
            outputs.append(theirs(token, embed(token, torch.tensor([[place]])), mask, kept)[0])
        return outputs

    return decode


@torch.no_grad()
def measure(size: tuple[int, int, int, int], rotary: bool, rounds: int) -> dict[str, Tensor]:
    """Return the seconds of a token in every round for each contender."""
    compared = contenders(size, rotary)
    for name in compared.keys() - {"bare"} if rotary else compared.keys():
        torch.testing.assert_close(compared[name](), compared["mha_lib"](), atol=2e-4, rtol=2e-4)
    times: dict[str, list[float]] = {name: [] for name in compared}
    for round_number in range(-1, rounds):  # one round to warm up
        for name, run in compared.items():
            elapsed = seconds(run, False, "cpu") / DECODED
            if round_number >= 0:
                times[name].append(elapsed)
    return {name: torch.tensor(values, dtype=torch.float64) for name, values in times.items()}


def row(size: tuple[int, int, int, int], rotary: bool, times: dict[str, Tensor]) -> str:
    cells = []
    for name in ("mha_lib", "DynamicCache", "StaticCache"):
        if name in times:
            low, high = quartiles(times, name, "bare")
            cells.append(f"{ratio(times, name, 'bare'):.2f} ({low:.2f}–{high:.2f})")
        else:
            cells.append("")
    most = MOST_AT.get(size, MOST[rotary]) if not rotary else MOST[rotary]
    missed = " **missed**" if ratio(times, "mha_lib", "bare") > most else ""
    microseconds = float(times["bare"].median()) * 1e6
    kind = "rotary" if rotary else ""
    return f"| {size} | {kind} | {microseconds:.0f} µs | {' | '.join(cells)} | {most:.2f}{missed} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=60)
    parser.add_argument("--record", action="store_true", help="keep the table in benchmarks/results/")
    options = parser.parse_args()
    lines = [
        f"Time of one decoded token relative to bare attention, {options.rounds} rounds of {DECODED} tokens.",
        "",
        "| D, H, key-value heads, held | | bare | mha_lib | DynamicCache | StaticCache | at most |",
        "|---|---|---|---|---|---|---|",
    ]
    print("\n".join(lines), flush=True)
    for size in SIZES:
        for rotary in (False, True):
            lines.append(row(size, rotary, measure(size, rotary, options.rounds)))
            print(lines[-1], flush=True)
    lines += ["", *describe_machine("cpu")]
    print("\n".join(lines[-4:]))
    if options.record:
        path = RESULTS / "decoding-cpu.md"
        path.write_text("# One decoded token on a CPU\n\n" + "\n".join(lines) + "\n", encoding="utf-8")
        print(f"The table: {path}")


if __name__ == "__main__":
    main()
