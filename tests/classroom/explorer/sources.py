"""Sources of pictures for the tests."""

import inspect

import torch

from mha_lib import masked_softmax, padding_mask
from mha_lib.classroom.explorer.controls import make_control
from mha_lib.classroom.explorer.table import Source

B, H, Q, K = 2, 7, 3, 5


def some_weights(num_heads=H, valid_lens=(5, 2)):
    mask = padding_mask(torch.tensor(valid_lens), K)  # (B, 1, K)
    scores = torch.randn(B, num_heads, Q, K, generator=torch.Generator().manual_seed(num_heads))
    return masked_softmax(scores, mask[:, None]), mask


def source_of(weights_of, labels=None, **controls):
    """A source that starts with the first options."""
    made = [make_control(name, given, inspect.Parameter.empty) for name, given in controls.items()]
    return Source(weights_of, made, {"query_labels": None, "key_labels": None} | (labels or {}))
