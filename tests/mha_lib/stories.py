"""Reads stories260K, a small language model that somebody else trained, into the course's layers.

The model is not part of the project. Where its file stands neither in ``data/`` beside ``mha_lib`` nor
in the folder that the variable ``STORIES`` names, a test with ``needs_stories`` skips, and says so.
"""

import os
import struct
from functools import partial
from pathlib import Path

import pytest
import torch
from torch import nn

from mha_lib import EncoderLayer

ROOT = Path(__file__).parents[2]
PLACES = [os.environ.get("STORIES", ""), ROOT / "data", ROOT.parent / "shared" / "data"]
FOLDER = next((Path(each) for each in PLACES if each and (Path(each) / "stories260K.bin").exists()), None)
needs_stories = pytest.mark.skipif(
    FOLDER is None, reason="no stories260K.bin: put it into data/, or name its folder in STORIES"
)

BEGIN = 1
STORY = [  # the tokens of what it is known for
    # Once upon a time, there was a little girl named Lily.
    [403, 407, 261, 378, 432, 383, 286, 261, 376, 298, 315, 421, 395, 317, 426],
    # She loved to play outside in the park.
    [338, 401, 396, 267, 337, 410, 408, 419, 292, 411, 322, 265, 282, 295, 433, 426],
    # One day, she saw a big, red ball.
    [385, 328, 432, 358, 394, 261, 370, 432, 352, 266, 268, 388, 426],
]


def read_model():
    """Return the table of tokens (V, D), the layers and the last norm."""
    data = (FOLDER / "stories260K.bin").read_bytes()
    width, hidden, depth, heads, kv_heads, vocabulary, _ = struct.unpack("7i", data[:28])
    numbers, start = torch.frombuffer(bytearray(data[28:]), dtype=torch.float32), 0

    def take(*shape):
        nonlocal start
        count = torch.Size(shape).numel()
        start += count
        return numbers[start - count : start].reshape(shape)

    kv_width = width // heads * kv_heads
    table = take(vocabulary, width)
    shapes = {
        "self_attention_norm": (width,),
        "self_attention.W_q": (width, width),
        "self_attention.W_k": (kv_width, width),
        "self_attention.W_v": (kv_width, width),
        "self_attention.W_o": (width, width),
        "feed_forward_norm": (width,),
        "feed_forward.W_gate": (hidden, width),
        "feed_forward.W_2": (width, hidden),
        "feed_forward.W_1": (hidden, width),
    }
    stacked = {f"{name}.weight": take(depth, *shape) for name, shape in shapes.items()}
    norm = partial(nn.RMSNorm, eps=1e-5)
    options = {"num_kv_heads": kv_heads, "rotary": True, "gated": True, "norm": norm}
    layers = [EncoderLayer(width, heads, hidden, **options).eval() for _ in range(depth)]
    for number, layer in enumerate(layers):
        layer.load_state_dict({name: x[number] for name, x in stacked.items()})
    last = norm(width)
    last.weight.data = take(width)
    return table, layers, last
