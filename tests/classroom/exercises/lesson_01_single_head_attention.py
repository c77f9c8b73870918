"""Right and wrong answers to the exercises of the lesson on single-head attention."""

import math

import torch
from torch.nn import functional as F

import mha_lib
from tests.classroom.exercises.answers import Answers


def masked_row_by_row(scores, mask):
    weights = torch.zeros_like(scores)
    for place in [(b, q) for b in range(scores.shape[0]) for q in range(scores.shape[1])]:
        weights[place][mask[place]] = scores[place][mask[place]].softmax(0)
    return weights


def attention(score=lambda q, k: q @ k.mT / q.shape[-1] ** 0.5, weigh=masked_row_by_row):
    return lambda q, k, v, mask: weigh(score(q, k), mask) @ v


def additive(join=torch.add, bend=torch.tanh):
    return lambda q, k, v, W_q, W_k, w_v: (
        (bend(join((q @ W_q)[:, :, None], (k @ W_k)[:, None])) @ w_v).softmax(-1) @ v
    )


def additive_pair_by_pair(q, k, v, W_q, W_k, w_v):
    scores = [
        [torch.tanh(q[:, i] @ W_q + k[:, j] @ W_k) @ w_v for j in range(k.shape[1])]
        for i in range(q.shape[1])
    ]
    return torch.stack([torch.stack(row, -1) for row in scores], 1).softmax(-1) @ v


masked_softmax = Answers(
    """
def answer(scores, mask):
    return scores.masked_fill(~mask, -1e9).softmax(-1)
""",
    right=[masked_row_by_row, lambda s, m: s.where(m, s.new_tensor(-torch.inf)).log_softmax(-1).exp()],
    wrong=[
        ("forbidden_scores_too_high", {"-1e9": "-100"}),
        ("overwritten", lambda scores, mask: scores.masked_fill_(~mask, -1e9).softmax(-1)),
        ("renormalised", lambda s, m: s.softmax(-1) * m / (s.softmax(-1) * m).sum(-1, keepdim=True)),
        ("underflow", lambda s, m: s.exp() * m / (s.exp() * m).sum(-1, keepdim=True)),
        ("finished_function", mha_lib.masked_softmax),
        ("only_zeros", lambda s, m: (s + ~m * -torch.inf).softmax(-1).nan_to_num()),
        ("only_nan", lambda s, m: (s + ~m * -torch.inf).softmax(-1)),
        ("printed", {"return scores.masked_fill(~mask, -1e9).softmax(-1)": "print(scores.softmax(-1))"}),
    ],
)

mask_from_lengths = Answers(
    right=[lambda lens, K: F.one_hot(lens, K + 1)[:, None, :K].cumsum(-1) == 0],
    wrong=[
        ("loop", lambda lens, K: torch.tensor([[[k < n for k in range(K)]] for n in lens.tolist()])),
        ("width_of_the_longest", lambda lens, K: torch.arange(int(lens.max())) < lens[:, None, None]),
        ("row_for_each_key", lambda lens, K: (torch.arange(K) < lens[:, None, None]).repeat(1, K, 1)),
        ("boolean_wanted", lambda lens, K: (torch.arange(K) < lens[:, None, None]).int(), "is torch.int32"),
        ("finished_function", mha_lib.padding_mask),
    ],
)

dot_product_attention = Answers(
    right=[attention()],
    wrong=[
        ("renormalised", attention(weigh=lambda s, m: F.normalize(s.softmax(-1) * m, p=1, dim=-1))),
        ("scale_of_another_axis", attention(lambda q, k: q @ k.mT / math.sqrt(k.shape[1]))),
        ("scale_half_of_d", attention(lambda q, k: q @ k.mT / (q.shape[-1] ** 1 / 2))),
        ("scale_half_of_d", attention(lambda q, k: q @ k.mT / q.shape[-1] ** 1 / 2)),
        ("line_raised", attention(lambda q, k: q @ k / k.shape[-1] ** 0.5), ".mT exchanges"),
        ("finished_function", lambda q, k, v, m: F.scaled_dot_product_attention(q, k, v, m)),
    ],
)

additive_attention = Answers(
    right=[additive()],
    wrong=[
        ("loop", additive_pair_by_pair),
        ("other_activation", additive(bend=torch.sigmoid)),
        ("subtracted", additive(torch.sub)),
    ],
)

one_weight = Answers(
    right=[0.79, torch.tensor(0.7869)],
    wrong=[("another_value", 0.5, "0.5"), ("number_wanted", ["a half"])],
)
cost_factor = Answers(right=[2.0])
