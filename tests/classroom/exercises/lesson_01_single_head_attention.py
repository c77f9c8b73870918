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


def additive(join=torch.add, bend=torch.tanh, weigh=lambda scores: scores.softmax(-1)):
    def answer(q, k, v, W_q, W_k, w_v):
        return weigh(bend(join((q @ W_q)[:, :, None], (k @ W_k)[:, None])) @ w_v) @ v

    return answer


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
    right=[
        masked_row_by_row,
        lambda s, m: F.softmax(s + torch.zeros_like(s).masked_fill(~m, -torch.inf), dim=2),
        lambda s, m: s.where(m, s.new_tensor(-torch.inf)).log_softmax(-1).exp(),
        {"-1e9": "-1e6"},
        {"-1e9": "torch.finfo().min"},
    ],
    wrong=[
        ("forbidden_scores_too_high", {"-1e9": "-100"}),
        ("overwritten", lambda scores, mask: scores.masked_fill_(~mask, -1e9).softmax(-1)),
        ("renormalised", lambda s, m: s.softmax(-1) * m / (s.softmax(-1) * m).sum(-1, keepdim=True)),
        ("underflow", lambda s, m: s.exp() * m / (s.exp() * m).sum(-1, keepdim=True)),
        ("softmax_over_samples", lambda s, m: F.softmax(s.masked_fill(~m, -1e9), dim=0)),
        ("forbidden_scores_zero", lambda s, m: torch.where(m, s, 0).softmax(-1)),
        ("finished_function", mha_lib.masked_softmax),
        ("only_zeros", lambda s, m: torch.zeros_like(s)),
        ("only_zeros", lambda s, m: (s + ~m * -torch.inf).softmax(-1).nan_to_num()),
        ("only_nan", lambda s, m: (s + ~m * -torch.inf).softmax(-1)),
        ("only_nan", lambda s, m: s.masked_fill(~m, torch.inf).softmax(-1)),
        ("printed", {"return scores.masked_fill(~mask, -1e9).softmax(-1)": "print(scores.softmax(-1))"}),
    ],
)

mask_from_lengths = Answers(
    right=[
        lambda lens, K: (lens.view(-1, 1, 1) - 1).ge(torch.arange(K)),
        lambda lens, K: F.one_hot(lens, K + 1)[:, None, :K].cumsum(-1) == 0,
    ],
    wrong=[
        ("loop", lambda lens, K: torch.tensor([[[k < n for k in range(K)]] for n in lens.tolist()])),
        ("one_key_too_few", lambda lens, K: torch.arange(K) < lens[:, None, None] - 1),
        ("width_of_the_longest", lambda lens, K: torch.arange(int(lens.max())) < lens[:, None, None]),
        ("row_for_each_key", lambda lens, K: (torch.arange(K) < lens[:, None, None]).repeat(1, K, 1)),
        ("samples_at_the_end", lambda lens, K: (torch.arange(K)[:, None] < lens)[:, None]),
        (
            "boolean_wanted",
            lambda lens, K: (torch.arange(K) < lens[:, None, None]).float(),
            "is torch.float32",
        ),
        ("mask_upside_down", lambda lens, K: (torch.arange(K) >= lens[:, None, None]).long()),
        ("finished_function", mha_lib.padding_mask),
        ("only_zeros", lambda lens, K: torch.zeros(len(lens), 1, K) > 0),
    ],
)

dot_product_attention = Answers(
    right=[
        attention(),
        attention(weigh=mha_lib.masked_softmax),
    ],
    wrong=[
        ("renormalised", attention(weigh=lambda s, m: F.normalize(s.softmax(-1) * m, p=1, dim=-1))),
        *(
            ("scale_of_another_axis", attention(lambda q, k, axis=axis: q @ k.mT / math.sqrt(axis(q, k))))
            for axis in (lambda q, k: k.shape[1], lambda q, k: q.shape[1], lambda q, k: len(q))
        ),
        ("scale_half_of_d", attention(lambda q, k: q @ k.mT / q.shape[-1] ** 1 / 2)),
        ("scale_half_of_d", attention(lambda q, k: q @ k.mT / (q.shape[-1] ** 1 / 2))),
        ("scale_of_values", lambda q, k, v, m: masked_row_by_row(q @ k.mT / v.shape[-1] ** 0.5, m) @ v),
        (
            "scale_after_softmax",
            lambda q, k, v, m: masked_row_by_row(q @ k.mT, m) / math.sqrt(q.shape[-1]) @ v,
        ),
        ("finished_function", lambda q, k, v, m: F.scaled_dot_product_attention(q, k, v, m)),
        ("finished_function", lambda *call: mha_lib.dot_product_attention(*call)[0]),
        ("only_zeros", lambda q, k, v, m: torch.zeros_like(q @ k.mT @ v)),
    ],
)

additive_attention = Answers(
    right=[
        additive(),
        additive(lambda q, k: -torch.sub(-q, k)),
        lambda q, k, v, W_q, W_k, w_v: (
            torch.einsum(
                "bqkh,h->bqk", ((q @ W_q).unsqueeze(2) + (k @ W_k).unsqueeze(1)).tanh(), w_v
            ).softmax(2)
            @ v
        ),
    ],
    wrong=[
        ("loop", additive_pair_by_pair),
        ("other_activation", additive(bend=torch.sigmoid)),
        (
            "w_v_missing",
            lambda q, k, v, W_q, W_k, w_v: (
                (((q @ W_q)[:, :, None] + (k @ W_k)[:, None]).tanh().sum(-1)).softmax(-1) @ v
            ),
        ),
        (
            "tanh_after_w_v",
            lambda q, k, v, W_q, W_k, w_v: (
                (((q @ W_q)[:, :, None] + (k @ W_k)[:, None]) @ w_v).tanh().softmax(-1) @ v
            ),
        ),
        ("subtracted", additive(torch.sub)),
        ("softmax_over_samples", additive(weigh=lambda s: F.softmax(s, dim=0))),
    ],
)

one_weight = Answers(
    right=[0.79, 0.787, torch.tensor(0.7869)],
    wrong=[
        *[("share_of_scores", 0.6), ("not_divided", 20.086), ("of_another_key", 0.11)],
        *[("another_value", 0.5, "0.5"), ("number_wanted", ["a half"])],
    ],
)
softmax_axis = Answers(right=[1, -1], wrong=[("over_queries", 0), ("another_value", 2, "2")])
best_scale = Answers(right=[2, 2.0], wrong=[("no_root", 1), ("squared", 3), ("nothing", 4)])
mended_mask = Answers(
    right=[torch.tensor([2.0, 1.0, -torch.inf, -torch.inf]).softmax(0), [0.73106, 0.26894, 0, 0]],
    wrong=[
        ("score_zero", torch.tensor([2.0, 1.0, 0.0, 0.0]).softmax(0)),
        *[("after_softmax", [0.23206, 0.08537, 0, 0]), ("another_value", [1, 2], "[1.0, 2.0]")],
    ],
)
one_key_more = Answers(
    right=[[2, 3, 4, 5, 6], torch.arange(5) + 2],
    wrong=[("one_too_few", torch.arange(5) + 1), ("all_keys", [6] * 5), ("backwards", [6, 5, 4, 3, 2])],
)
cost_factor = Answers(right=[2, 2.0], wrong=[("both_twice", 4), ("same_work", 1)])
