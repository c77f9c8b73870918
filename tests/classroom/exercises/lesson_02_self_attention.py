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


def lower(scores, diagonal=0):
    return torch.ones_like(scores, dtype=torch.bool).tril(diagonal)


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

TRIANGLE = (
    "torch.linalg.solve(torch.cat([v, torch.ones(3, 1)], 1).T, torch.cat([t, torch.ones(len(t), 1)], 1).T).T"
)
needed_weights = Answers(
    f"""
def answer(v, t):
    return {TRIANGLE}
""",
    right=[
        lambda v, t: (lambda w: torch.cat([1 - w.sum(1, keepdim=True), w], 1))(
            (t - v[0]) @ (v[1:] - v[0]).inverse()
        ),
    ],
    wrong=[
        ("sum_missing", lambda v, t: torch.linalg.lstsq(v.T, t.T).solution.T),
        ("products", lambda v, t: t @ v.T),
        ("nearest_values", lambda v, t: F.softmax(-torch.cdist(t, v), dim=1)),
        ("clipped", {".T).T": ".T).T.relu()"}),
        ("softmax_of_weights", {".T).T": ".T).T.softmax(1)"}),
        ("targets_in_columns", {".T).T": ".T)"}),
        ("yes_or_no", {"return ": "return (", ".T).T": ".T).T >= 0).all(1)"}),
    ],
)

output_size = Answers(
    right=[70, 2 * 7 * 5.0], wrong=[("width_of_queries", 112), ("weights_counted", 98), ("one_sample", 35)]
)
missed_target = Answers(right=[3, 3.0], wrong=[("near_edge", 4), ("near_corner", 2), ("far_inside", 1)])
moved_row = Answers(right=[1, torch.tensor(1)], wrong=[("read_backwards", 2), ("stays", 0)])
one_wave = Answers(
    right=[0.02, math.sin(0.02)],
    wrong=[("first_pair", 0.909), ("cosine", 0.9998), ("root_missing", 0.199)],
)
kept_places = Answers(right=[3, 3.0], wrong=[("first_alone", 1), ("order_seen", 0), ("equivariant", 5)])
crossover_length = Answers(
    right=[768, 769], wrong=[("width_of_the_slide", 192), ("with_output_projection", 1024)]
)
