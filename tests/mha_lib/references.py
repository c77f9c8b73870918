"""Four attention classes as courses and tutorials write them, to be rebuilt from the library.

Each is written the way its kind is: its own argument order, its own way with heads, masks and biases.
"""

import math

import torch
from torch import Tensor, nn


class FoldedMultiHead(nn.Module):
    """(a) Six arguments; heads are folded into the batch, ``(B*H, N, d)``, and lengths repeated."""

    def __init__(self, key_size, query_size, value_size, num_hiddens, num_heads, dropout, bias=False):
        super().__init__()
        self.num_heads = num_heads
        self.dropout = nn.Dropout(dropout)
        self.to_queries = nn.Linear(query_size, num_hiddens, bias=bias)
        self.to_keys = nn.Linear(key_size, num_hiddens, bias=bias)
        self.to_values = nn.Linear(value_size, num_hiddens, bias=bias)
        self.to_output = nn.Linear(num_hiddens, num_hiddens, bias=bias)

    def fold(self, x: Tensor) -> Tensor:
        batch, num_tokens, width = x.shape
        x = x.reshape(batch, num_tokens, self.num_heads, width // self.num_heads)
        return x.permute(0, 2, 1, 3).reshape(batch * self.num_heads, num_tokens, -1)

    def unfold(self, x: Tensor) -> Tensor:
        x = x.reshape(-1, self.num_heads, *x.shape[1:])
        return x.permute(0, 2, 1, 3).reshape(x.shape[0], x.shape[2], -1)

    def forward(self, queries, keys, values, valid_lens=None):
        q, k, v = (
            self.fold(self.to_queries(queries)),
            self.fold(self.to_keys(keys)),
            self.fold(self.to_values(values)),
        )
        scores = torch.bmm(q, k.transpose(1, 2)) / math.sqrt(q.shape[-1])
        if valid_lens is not None:
            valid_lens = torch.repeat_interleave(valid_lens, self.num_heads, dim=0)
            for row, lengths in enumerate(valid_lens):
                for query, length in enumerate(lengths.expand(scores.shape[1])):
                    scores[row, query, int(length) :] = -math.inf
        weights = torch.softmax(scores, dim=-1)
        return self.to_output(self.unfold(torch.bmm(self.dropout(weights), v)))


class ValuesFirstMultiHead(nn.Module):
    """(b) ``d_model, num_heads``; called with values, keys, queries in that order; a bias everywhere."""

    def __init__(self, d_model, num_heads):
        super().__init__()
        self.num_heads, self.d_model, self.depth = num_heads, d_model, d_model // num_heads
        self.query_dense, self.key_dense, self.value_dense, self.dense = (
            nn.Linear(d_model, d_model) for _ in range(4)
        )

    def forward(self, v, k, q, mask=None):
        """The mask is 1 for keys to ignore."""
        heads = []
        for x, dense in ((q, self.query_dense), (k, self.key_dense), (v, self.value_dense)):
            heads.append(dense(x).view(len(x), -1, self.num_heads, self.depth).permute(0, 2, 1, 3))
        logits = torch.einsum("bhqd,bhkd->bhqk", heads[0], heads[1]) / self.depth**0.5
        if mask is not None:
            logits = logits.masked_fill(mask.bool(), -math.inf)
        attention = logits.softmax(dim=-1)
        context = torch.einsum("bhqk,bhkd->bqhd", attention, heads[2])
        return self.dense(context.reshape(len(q), -1, self.d_model)), attention


class KeyValueSingleHead(nn.Module):
    """(c) One head with ``d_model, d_k, d_v``; one input gives the queries, another both keys and values."""

    def __init__(self, d_model, d_k, d_v):
        super().__init__()
        self.Wq = nn.Parameter(torch.randn(d_model, d_k) / d_model**0.5)
        self.Wk = nn.Parameter(torch.randn(d_model, d_k) / d_model**0.5)
        self.Wv = nn.Parameter(torch.randn(d_model, d_v) / d_model**0.5)

    def forward(self, x_queries, x_keys_values):
        q, k, v = x_queries @ self.Wq, x_keys_values @ self.Wk, x_keys_values @ self.Wv
        scaled = q @ k.permute(0, 2, 1) * self.Wk.shape[1] ** -0.5
        exponentials = torch.exp(scaled - scaled.amax(2, keepdim=True))
        return exponentials / exponentials.sum(2, keepdim=True) @ v


class SelfSingleHead(KeyValueSingleHead):
    """(c) Its self-attention twin."""

    def forward(self, x):
        return super().forward(x, x)


class ListOfHeads(nn.Module):
    """(d) ``d_model, d_k, d_v, num_heads``: widths of all heads together; a loop, W_o back to d_model."""

    def __init__(self, d_model, d_k, d_v, num_heads):
        super().__init__()
        self.heads = nn.ModuleList(
            SelfSingleHead(d_model, d_k // num_heads, d_v // num_heads) for _ in range(num_heads)
        )
        self.W_o = nn.Linear(d_v, d_model, bias=False)

    def forward(self, x):
        return self.W_o(torch.cat([head(x) for head in self.heads], dim=-1))
