"""Reads stories260K, a small language model that somebody else trained, into the course's layers.

The model is not part of the project. Where its two files stand neither in ``data/`` beside ``mha_lib`` nor
in the folder that the variable ``STORIES`` names, a test with ``needs_stories`` skips, and says so.
"""

import os
import struct
from functools import partial
from itertools import pairwise
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
TOLD = (
    "Once upon a time, there was a little girl named Lily. She loved to play outside in the park. One day, "
    "she saw a big, red ball."
)


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


def read_tokens():
    """Return each token's score and bytes."""
    data = (FOLDER / "tok512.bin").read_bytes()
    tokens, place = [], 4
    while place < len(data):
        score, length = struct.unpack("fi", data[place : place + 8])
        tokens.append((score, data[place + 8 : place + 8 + length]))
        place += 8 + length
    return tokens


def encoded(text, tokens):
    """Join the two neighbours whose joint token scores highest, until there are none."""
    numbers = {piece: number for number, (_, piece) in enumerate(tokens)}
    pieces = [character.encode() for character in f" {text}"]
    while True:
        joint = [a + b for a, b in pairwise(pieces)]
        known = [place for place, piece in enumerate(joint) if piece in numbers]
        if not known:
            return [BEGIN, *(numbers[piece] for piece in pieces)]
        best = max(known, key=lambda place: tokens[numbers[joint[place]]][0])
        pieces[best : best + 2] = [joint[best]]
