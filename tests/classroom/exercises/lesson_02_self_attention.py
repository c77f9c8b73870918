"""Right and wrong answers to the exercises of the lesson on self-attention."""

import math

import torch
from torch.nn import functional as F

import mha_lib
from tests.classroom.exercises.answers import Answers


def attend(q, k, v):
    return (q @ k.mT / math.sqrt(q.shape[-1])).softmax(-1) @ v


def changed(x, token, feature=slice(None)):
    x = x.clone()
    x[token, feature] += 1
    return x


def seen(differs=lambda after, before: (after != before).any(-1), change=changed):
    """Compares the output after a change of each token with the output before."""
    return lambda f, x: torch.stack([differs(f(change(x, j)), f(x)) for j in range(len(x))], 1)


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


self_attention = Answers(
    right=[lambda x, W_q, W_k, W_v: torch.stack([attend(one @ W_q, one @ W_k, one @ W_v) for one in x])],
    wrong=[
        ("queries_and_keys_not_projected", lambda x, W_q, W_k, W_v: attend(x, x, x @ W_v)),
        (
            "library_called",
            lambda x, W_q, W_k, W_v: mha_lib.dot_product_attention(x @ W_q, x @ W_k, x @ W_v)[0],
        ),
        ("keys_from_W_q", lambda x, W_q, W_k, W_v: attend(x @ W_q, x @ W_q, x @ W_v)),
        (
            "finished_function",
            lambda x, W_q, W_k, W_v: F.scaled_dot_product_attention(x @ W_q, x @ W_k, x @ W_v),
        ),
    ],
)

equivariance_gap = Answers(
    right=[lambda f, x, order: torch.dist(f(x[:, order]), f(x)[:, order], p=torch.inf)],
    wrong=[
        (
            "output_permuted_on_the_wrong_side",
            lambda f, x, order: (f(x[:, order]) - f(x)[:, order.argsort()]).abs().max(),
        ),
        ("yes_or_no", lambda f, x, order: torch.allclose(f(x[:, order]), f(x)[:, order], atol=1e-5)),
        ("abs_missing", lambda f, x, order: (f(x)[:, order] - f(x[:, order])).max().item()),
    ],
)

positions = Answers(
    """
def answer(num_positions, num_hiddens):
    j = torch.arange(num_hiddens) // 2
    angles = torch.arange(num_positions)[:, None] / 10000 ** (2 * j / num_hiddens)
    return torch.where(torch.arange(num_hiddens) % 2 == 0, angles.sin(), angles.cos())
""",
    wrong=[
        ("one_angle", {"2 * j / num_hiddens": "2 * j // num_hiddens"}),
        ("last_pair_at_1", {"2 * j / num_hiddens": "j / (num_hiddens // 2 - 1)"}),
        ("exponent_not_doubled", {"2 * j": "j"}),
        ("finished_function", mha_lib.sinusoidal_positions),
    ],
)

who_sees_whom = Answers(
    right=[
        changing(restores=True),
        lambda f, x: torch.autograd.functional.jacobian(f, x).abs().amax((1, 3)) > 0,
    ],
    wrong=[
        ("one_number_changed", seen(change=lambda x, j: changed(x, j, 0))),
        ("one_number_read", seen(lambda after, before: after[:, 0] != before[:, 0])),
        ("all_for_any", seen(lambda after, before: (after != before).all(-1))),
        ("changes_pile_up", changing(restores=False)),
        ("true_everywhere", lambda f, x: seen(lambda after, _: (after != x).any(-1))(f, x)),
        ("unchanged", seen(lambda after, before: (after == before).all(-1))),
    ],
)

needed_weights = Answers(
    right=[
        lambda v, t: (lambda w: torch.cat([1 - w.sum(1, keepdim=True), w], 1))(
            (t - v[0]) @ (v[1:] - v[0]).inverse()
        ),
    ],
    wrong=[
        ("sum_missing", lambda v, t: torch.linalg.lstsq(v.T, t.T).solution.T),
        ("nearest_values", lambda v, t: F.softmax(-torch.cdist(t, v), dim=1)),
    ],
)

moved_row = Answers(right=[torch.tensor(1)])
one_wave = Answers(right=[0.02], wrong=[("root_missing", 0.199)])
kept_places = Answers(right=[3])
crossover_length = Answers(right=[768, 769])
