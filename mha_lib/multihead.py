"""Multi-head attention: the heads as a fourth axis, (B, H, Q, K)."""

import torch
from torch import Tensor, nn

from mha_lib.attention import combine_masks, dot_product_attention


def split_heads(x: Tensor, num_heads: int) -> Tensor:
    """``(B, N, H*d) -> (B, H, N, d)``"""
    batch, num_tokens, width = x.shape
    if num_heads < 1 or width % num_heads:
        raise ValueError(f"the width of x, {width}, must be divisible by num_heads={num_heads}")
    return x.view(batch, num_tokens, num_heads, width // num_heads).transpose(1, 2)


def merge_heads(x: Tensor) -> Tensor:
    """``(B, H, N, d) -> (B, N, H*d)``"""
    return x.transpose(1, 2).flatten(2)


class MultiHeadAttention(nn.Module):
    """Project, attend in H heads at once, merge, project."""

    def __init__(self, num_hiddens: int, num_heads: int, dropout: float = 0.0, bias: bool = False):
        super().__init__()
        if num_heads < 1 or num_hiddens % num_heads:
            divisors = ", ".join(str(n) for n in range(1, num_hiddens + 1) if num_hiddens % n == 0)
            raise ValueError(
                f"num_hiddens={num_hiddens} must be divisible by num_heads={num_heads}; divisors: {divisors}"
            )
        self.num_heads = num_heads
        self.dropout = dropout
        self.W_q = nn.Linear(num_hiddens, num_hiddens, bias=bias)
        self.W_k = nn.Linear(num_hiddens, num_hiddens, bias=bias)
        self.W_v = nn.Linear(num_hiddens, num_hiddens, bias=bias)
        self.W_o = nn.Linear(num_hiddens, num_hiddens, bias=bias)

    def forward(
        self,
        queries: Tensor,
        keys: Tensor | None = None,
        values: Tensor | None = None,
        valid_lens: Tensor | None = None,
        *,
        mask: Tensor | None = None,
        is_causal: bool = False,
        need_weights: bool = False,
    ) -> Tensor | tuple[Tensor, Tensor]:
        keys = queries if keys is None else keys
        values = keys if values is None else values
        mask = combine_masks(queries.shape[1], keys.shape[1], valid_lens, mask, is_causal, queries.device)
        if mask is not None:
            mask = mask[:, None] if mask.dim() == 3 else mask  # (B, 1, Q, K): the same for every head
        q = split_heads(self.W_q(queries), self.num_heads)  # (B, H, Q, d)
        k = split_heads(self.W_k(keys), self.num_heads)  # (B, H, K, d)
        v = split_heads(self.W_v(values), self.num_heads)  # (B, H, K, d)
        dropout_p = self.dropout if self.training else 0.0
        if need_weights:
            heads, weights = dot_product_attention(q, k, v, mask, dropout_p)  # (B, H, Q, d), (B, H, Q, K)
            return self.W_o(merge_heads(heads)), weights
        heads = nn.functional.scaled_dot_product_attention(q, k, v, mask, dropout_p)
        if mask is not None:  # a query that may attend to nothing gets nothing
            heads = torch.where(mask.any(-1, keepdim=True), heads, 0.0)
        return self.W_o(merge_heads(heads))
