"""Remove heads from a layer, so that it really becomes smaller."""

import copy
from collections.abc import Sequence

import torch
from torch import Tensor, nn

from mha_lib import checks
from mha_lib.multihead import MultiHeadAttention, check_layer


def prune_heads(layer: MultiHeadAttention, keep: Sequence[int]) -> MultiHeadAttention:
    """A smaller copy of ``layer`` that has only the heads in ``keep``, counted from 0, in that order.

        W_q, W_k, W_v: the columns of these heads; W_o: their rows

    The output is that of ``layer`` with a ``head_mask`` of 1 for these heads and 0 for all others; the work
    and the parameters are those of ``len(keep)`` heads. (``nn.Linear`` stores W transposed, so that here
    columns are rows.)
    Raises TypeError for another class and for projections that were replaced, ValueError for a head that
    does not exist, a head that is named twice, no head at all, and for heads that share keys.

    Source: Michel et al. 2019, section 2.3; Voita et al. 2019 prune while training. Elsewhere:
    ``prune_heads(heads)`` (Hugging Face), whose argument names the heads to remove.
    """
    heads = checked_heads_to_keep(layer, keep)
    pruned = copy.deepcopy(layer)
    pruned.num_heads = pruned.num_kv_heads = len(heads)

    def kept(x: Tensor, width: int, dim: int) -> nn.Parameter:
        by_head = x.detach().unflatten(dim, (layer.num_heads, width))
        chosen = by_head.index_select(dim, torch.tensor(heads, device=x.device))
        return nn.Parameter(chosen.flatten(dim, dim + 1), requires_grad=x.requires_grad)

    widths = (layer.head_dim, layer.head_dim, layer.value_head_dim)
    for projection, width in zip((pruned.W_q, pruned.W_k, pruned.W_v), widths, strict=True):
        for name, x in list(projection.named_parameters()):  # weight (H*d, size), bias (H*d,)
            setattr(projection, name, kept(x, width, dim=0))
        projection.out_features = len(projection.weight)
    if layer.sink_logits is not None:
        pruned.sink_logits = kept(layer.sink_logits, 1, dim=0)
    pruned.W_o.weight = kept(layer.W_o.weight, layer.value_head_dim, dim=1)  # (D, H*d_v)
    pruned.W_o.in_features = pruned.W_o.weight.shape[1]
    return pruned


def checked_heads_to_keep(layer: MultiHeadAttention, keep: Sequence[int]) -> list[int]:
    """Return the heads of ``layer`` that are to stay, as Python's integers."""
    check_layer(layer)
    checks.check_plain_projections(layer, "W_q", "W_k", "W_v", "W_o")
    if layer.num_kv_heads != layer.num_heads:
        raise ValueError(
            f"layer must have keys and values for each head, got num_kv_heads={layer.num_kv_heads} for "
            f"num_heads={layer.num_heads}: the heads that are left may not share them evenly; "
            "silence heads with a head_mask instead"
        )
    heads = [checks.checked_size("keep", head, minimum=0) for head in keep]
    if not heads or max(heads) >= layer.num_heads or len(set(heads)) < len(heads):
        raise ValueError(
            f"keep must name some of the heads 0 to {layer.num_heads - 1}, each once, got {heads}; "
            "a head_mask of zeros silences all heads"
        )
    return heads
