"""A model in the form of the lesson on a small language model, whose weights are written by hand.

Head 0.0 copies the previous token beside each token. Head 1.0 looks for its own token there, and writes the
token at which it finds it: the one that came next the last times. The other heads and the networks write
nothing.
"""

from functools import cache

import torch
from torch import nn

from mha_lib import EncoderLayer, LanguageModel, rotate_by_position
from mha_lib.classroom.stories import tales_here


@cache
def looking_up():
    """The model, for the stories in the language that is spoken here."""
    size = len(tales_here().vocabulary)
    own, before, constant = slice(0, size), slice(size, 2 * size), 2 * size  # columns of a token
    width, head_dim = 2 * size + 1, size + size % 2
    layers = [
        EncoderLayer(width, 2, 1, head_dim=head_dim, rotary=rotary, gated=True, norm=nn.RMSNorm)
        for rotary in (True, False)
    ]
    model = LanguageModel(nn.Embedding(size, width), layers, nn.RMSNorm(width)).eval()
    first, second = (layer.self_attention for layer in model.layers)
    identity, turning = torch.eye(size), torch.zeros(head_dim)
    turning[:40] = 20 * head_dim**0.5 / 40**0.5  # the twenty pairs that turn fastest
    with torch.no_grad():
        for layer in model.layers:
            for parameter in (*layer.self_attention.parameters(), *layer.feed_forward.parameters()):
                parameter.zero_()
        model.table.weight.zero_()
        model.table.weight[:, own] = identity
        model.table.weight[:, constant] = 1
        first.W_q.weight[:head_dim, constant] = turning
        first.W_k.weight[:head_dim, constant] = rotate_by_position(turning[None], torch.tensor([1]))[0]
        second.W_q.weight[:size, own] = 30 * identity
        second.W_k.weight[:size, before] = identity
        for attention, written, strength in ((first, before, 0.1), (second, own, 1.0)):
            attention.W_v.weight[:size, own] = identity
            attention.W_o.weight[written, :size] = strength * identity
    return model
