"""Right and wrong answers to the exercises of the lesson on self-attention."""

import math

import torch
from torch.nn import functional as F

import mha_lib
from tests.classroom.exercises.answers import Answers


def attend(q, k, v, mask=None, d=None):
    scores = q @ k.mT / math.sqrt(d or q.shape[-1])
    return (scores if mask is None else scores.masked_fill(~mask, -torch.inf)).softmax(-1) @ v


def changed(x, token, feature=slice(None), by=1.0):
    x = x.clone()
    x[token, feature] += by
    return x


def seen(differs=lambda after, before: (after != before).any(-1), change=changed, dim=1):
    """Compares the output after a change of each token with the output before."""
    return lambda f, x: torch.stack([differs(f(change(x, j)), f(x)) for j in range(len(x))], dim)


def changing(restores):
    def answer(f, x):
        before, columns = f(x), []
        for token in range(len(x)):
            kept = x[token].clone()
            x[token] += 1
            columns.append((f(x) != before).any(-1))
            if restores:
                x[token] = kept
        return torch.stack(columns, 1)

    return answer


def causal(weigh):
    return lambda q, k, v: weigh(q @ k.mT / q.shape[-1] ** 0.5) @ v


def lower(scores, diagonal=0):
    return torch.ones_like(scores, dtype=torch.bool).tril(diagonal)


def causal_row_by_row(q, k, v):
    return torch.cat([attend(q[i : i + 1], k[: i + 1], v[: i + 1]) for i in range(len(q))])


def rounded_up(num_hiddens, d, d_v):
    return -(-num_hiddens * (2 * d + d_v) // (d + d_v))


LINE = "return (x @ W_q @ (x @ W_k).mT / W_q.shape[1] ** 0.5).softmax(-1) @ x @ W_v"
self_attention = Answers(
    f"""
def answer(x, W_q, W_k, W_v):
    {LINE}
""",
    right=[
        lambda x, W_q, W_k, W_v: torch.stack([attend(one @ W_q, one @ W_k, one @ W_v) for one in x]),
        lambda x, W_q, W_k, W_v: (x @ (W_q @ W_k.mT) @ x.mT / W_k.shape[1] ** 0.5).softmax(2) @ x @ W_v,
    ],
    wrong=[
        ("queries_and_keys_not_projected", lambda x, W_q, W_k, W_v: attend(x, x, x @ W_v)),
        ("library_called", {LINE: "return mha_lib.dot_product_attention(x @ W_q, x @ W_k, x @ W_v)[0]"}),
        ("keys_from_W_q", lambda x, W_q, W_k, W_v: attend(x @ W_q, x @ W_q, x @ W_v)),
        ("weights_transposed", {"softmax(-1)": "softmax(-1).mT"}),
        ("masked", lambda x, W_q, W_k, W_v: attend(x @ W_q, x @ W_k, x @ W_v, lower(x @ x.mT))),
        ("softmax_over_samples", {"softmax(-1)": "softmax(0)"}),
        ("scale_of_another_axis", {"W_q.shape[1]": "len(x)"}),
        ("scale_of_another_axis", {"W_q.shape[1]": "x.shape[1]"}),
        ("scale_of_values", {"W_q.shape[1]": "W_v.shape[1]"}),
        ("scale_half_of_d", {"0.5": "1 / 2"}),
        ("scale_after_softmax", {" / W_q.shape[1] ** 0.5)": ")", ") @ x": ") / W_q.shape[1] ** 0.5 @ x"}),
        (
            "finished_function",
            lambda x, W_q, W_k, W_v: F.scaled_dot_product_attention(x @ W_q, x @ W_k, x @ W_v),
        ),
        ("printed", {LINE: LINE.replace("return ", "print(") + ")"}),
    ],
)

equivariance_gap = Answers(
    """
def answer(f, x, order):
    return (f(x[:, order]) - f(x)[:, order]).abs().max()
""",
    right=[
        lambda f, x, order: (f(x) - f(x[:, order])[:, order.argsort()]).abs().max(),
        lambda f, x, order: torch.dist(f(x[:, order]), f(x)[:, order], p=torch.inf),
        lambda f, x, order: max(map(abs, (f(x[:, order]) - f(x)[:, order]).flatten().tolist())),
    ],
    wrong=[
        ("output_permuted_on_the_wrong_side", {"f(x)[:, order]": "f(x)[:, order.argsort()]"}),
        ("summed", {"max": "sum"}),
        ("yes_or_no", lambda f, x, order: torch.allclose(f(x[:, order]), f(x)[:, order], atol=1e-5)),
        ("squared", {"abs": "square"}),
        ("abs_missing", lambda f, x, order: (f(x)[:, order] - f(x[:, order])).max().item()),
        ("first_sample_alone", {".abs": "[0].abs"}),
    ],
)

positions = Answers(
    """
def answer(num_positions, num_hiddens):
    j = torch.arange(num_hiddens) // 2
    angles = torch.arange(num_positions)[:, None] / 10000 ** (2 * j / num_hiddens)
    return torch.where(torch.arange(num_hiddens) % 2 == 0, angles.sin(), angles.cos())
""",
    right=[{"angles.cos()": "(angles + torch.pi / 2).sin()"}],
    wrong=[
        ("other_base", {"10000": "1000"}),
        ("exponent_doubled_twice", {"2 * j": "4 * j"}),
        ("one_angle", {"2 * j / num_hiddens": "2 * j // num_hiddens"}),
        ("last_pair_at_1", {"2 * j / num_hiddens": "j / (num_hiddens // 2 - 1)"}),
        ("sines_alone", {"cos": "sin"}),
        ("exponent_not_doubled", {"2 * j": "j"}),
        ("finished_function", mha_lib.sinusoidal_positions),
    ],
)

causal_mask = Answers(
    right=[
        lambda q, k: torch.ones(k, k, dtype=torch.bool).tril()[-q:],
        lambda q, k: ~torch.ones(q, k, dtype=torch.bool).triu(1 + k - q),
        lambda q, k: torch.tensor([[j <= k - q + i for j in range(k)] for i in range(q)]),
    ],
    wrong=[
        ("all_tokens_ask", lambda q, k: torch.ones(k, k, dtype=torch.bool).tril()),
        ("aligned_at_the_start", lambda q, k: torch.ones(k, k, dtype=torch.bool).tril()[:q]),
        ("next_token_seen", lambda q, k: torch.ones(q, k).tril(k - q + 1).bool()),
        ("nothing_forbidden", lambda q, k: torch.ones(q, k).tril(k).bool()),
        ("keys_in_rows", lambda q, k: torch.arange(k)[:, None] <= torch.arange(k - q, k)),
        ("future_instead_of_past", lambda q, k: torch.arange(k) >= torch.arange(k - q, k)[:, None]),
        ("boolean_wanted", lambda q, k: torch.ones(q, k).tril(k - q), "is torch.float32"),
        ("mask_upside_down", lambda q, k: 1 - torch.ones(q, k).tril(k - q).long()),
        ("finished_function", mha_lib.causal_mask),
    ],
)

who_sees_whom = Answers(
    right=[
        changing(restores=True),
        lambda f, x: torch.autograd.functional.jacobian(f, x).abs().amax((1, 3)) > 0,
        seen(lambda after, before: ~torch.isclose(after, before).all(-1), lambda x, j: changed(x, j, by=-3)),
    ],
    wrong=[
        ("one_number_changed", seen(change=lambda x, j: changed(x, j, 0))),
        ("one_number_read", seen(lambda after, before: after[:, 0] != before[:, 0])),
        ("all_for_any", seen(lambda after, before: (after != before).all(-1))),
        ("changes_pile_up", changing(restores=False)),
        ("rows_and_columns_exchanged", seen(dim=0)),
        ("true_everywhere", lambda f, x: seen(lambda after, _: (after != x).any(-1))(f, x)),
        ("unchanged", seen(lambda after, before: (after == before).all(-1))),
        ("own_output_alone", lambda f, x: seen()(f, x) & torch.eye(len(x), dtype=torch.bool)),
    ],
)

causal_attention = Answers(
    right=[
        causal_row_by_row,
        causal(lambda s: mha_lib.masked_softmax(s, mha_lib.causal_mask(*s.shape))),
        causal(lambda s: (s + torch.full_like(s, -torch.inf).triu(1)).softmax(-1)),
    ],
    wrong=[
        ("renormalised", causal(lambda s: s.softmax(-1).tril() / s.softmax(-1).tril().sum(-1, keepdim=True))),
        ("forbidden_scores_zero", causal(lambda s: s.tril().softmax(-1))),
        (
            "finished_function",
            lambda q, k, v: F.scaled_dot_product_attention(q[None], k[None], v[None], is_causal=True)[0],
        ),
        ("scale_of_values", lambda q, k, v: attend(q, k, v, lower(q @ k.mT), v.shape[-1])),
        ("only_zeros", causal(torch.zeros_like)),
        ("only_nan", causal(lambda s: (s + torch.ones_like(s).triu(1) * -torch.inf).softmax(-1))),
        ("next_token_seen", causal(lambda s: s.masked_fill(~lower(s, 1), -1e9).softmax(-1))),
        ("future_instead_of_past", causal(lambda s: s.masked_fill(~lower(s).mT, -1e9).softmax(-1))),
        ("softmax_over_queries", causal(lambda s: F.softmax(s.masked_fill(~lower(s), -1e9), dim=0))),
    ],
)

crossover = Answers(
    right=[
        lambda D, d, d_v: D * (1 + d / (d + d_v)),
        lambda D, d, d_v: torch.tensor(D * (2 * d + d_v) / (d + d_v)),
        lambda D, d, d_v: next(N for N in range(999) if N * N * (d + d_v) >= N * D * (2 * d + d_v) > 0),
        (rounded_up, "right on 5 random cases. You round up, since a length is a whole number."),
    ],
    wrong=[
        ("one_side_doubled", lambda D, d, d_v: 2 * D * (2 * d + d_v) / (d + d_v)),
        ("multiplied", lambda D, d, d_v: D * (2 * d + d_v) * (d + d_v)),
        ("width_missing", lambda D, d, d_v: (2 * d + d_v) / (d + d_v)),
        ("values_as_wide_as_keys", lambda D, d, d_v: 3 * D / 2),
        ("rounded_down", lambda D, d, d_v: D * (2 * d + d_v) // (d + d_v)),
    ],
)
