"""The statements of lesson 03 about one seed hold for twelve. Run by hand, with ``-m whole``."""

import math

import pytest
import torch
from torch import nn

from evidence.heads import LESSONS, SEEDS, source_of, task_of
from mha_lib import merge_heads, padding_mask, split_heads
from mha_lib.classroom.trainings.threads import one_thread

pytestmark = pytest.mark.whole
LESSON = LESSONS[0]  # the code cells are the same in each language
TOKENS, LENGTH = torch.tensor([[7, 3, 8, 1, 5, 9, 2, 6]]), torch.tensor([7])
each_seed = pytest.mark.parametrize("seed", SEEDS)


@pytest.fixture(scope="module")
def task():
    return task_of(LESSON)


@pytest.fixture(autouse=True)
def in_one_thread():
    with one_thread():
        yield


@each_seed
def test_one_head_answers_half_the_previous_and_half_the_first(task, seed):
    model = task["train_heads"](1, seed)
    reports = model(TOKENS, LENGTH)[0, 4]  # previous 1, next 9, first 7, last 2
    expected = torch.zeros(10)
    expected[[1, 7]] = 0.5
    torch.testing.assert_close(reports[0], expected, atol=0.1, rtol=0)
    torch.testing.assert_close(reports[2], expected, atol=0.1, rtol=0)
    torch.testing.assert_close(reports[[1, 3]], torch.full((2, 10), 0.1), atol=0.05, rtol=0)


@pytest.mark.parametrize("steps", [400, 1600])
def test_with_one_seed_two_of_four_heads_take_the_same_pattern(task, steps):
    torch.manual_seed(7)
    model = task["train"](task["Reporter"](4), 7, steps)
    assert task["score"](model)[0] == pytest.approx(0.716, abs=0.005)
    _, weights = model.attention(model.embed(TOKENS), need_weights=True)
    assert sorted(weights[0, :, 4].argmax(-1).tolist())[:3] == [0, 3, 3]  # the first, the previous twice


@pytest.mark.parametrize("seed", [seed for seed in SEEDS if seed != 7])
def test_four_heads_take_one_pattern_each(task, seed):
    model = task["train_heads"](4, seed)
    assert min(task["score"](model)) > 0.99
    for length in (8, 7, 6, 5):
        _, weights = model.attention(
            model.embed(TOKENS), valid_lens=torch.tensor([length]), need_weights=True
        )
        assert sorted(weights[0, :, 2].argmax(-1).tolist()) == [0, 1, 3, length - 1]
        assert weights[0, :, 2].amax(-1).min() > 0.9


@each_seed
def test_equal_heads_stay_equal_and_are_worth_one(task, seed):
    namespace = dict(task)
    for cell in ("make-heads-equal", "gradients-of-heads"):
        exec(compile(source_of(LESSON, cell), cell, "exec"), namespace)
    torch.manual_seed(seed)
    model = task["Reporter"](4)
    namespace["make_heads_equal"](model.attention)
    gradients = namespace["gradients_of_heads"](model)
    assert (gradients - gradients[0]).abs().max() < 1e-6
    model = task["train_heads"](4, seed, namespace["make_heads_equal"])
    _, weights = model.attention(model.embed(TOKENS), need_weights=True)
    assert (weights[0] - weights[0, 0]).abs().max() < 0.01
    assert task["score"](model)[0] == pytest.approx(0.249, abs=0.005)


def test_an_untrained_layer_has_another_map_with_every_seed(task):
    namespace = task | {"tokens": TOKENS}
    exec(compile(source_of(LESSON, "untrained-weights"), "untrained-weights", "exec"), namespace)
    maps = [namespace["untrained_weights"](seed) for seed in range(60)]
    means = [weights.amax(-1).mean().item() for weights in maps]
    assert (round(min(means), 2), round(max(means), 2)) == (0.22, 0.32)
    assert max(weights.max().item() for weights in maps) == pytest.approx(0.85, abs=0.02)


class WithMistake(nn.Module):
    """The attention of a ``Reporter`` with the mistake of one exhibit of the museum."""

    def __init__(self, layer, exhibit):
        super().__init__()
        self.layer, self.exhibit = layer, exhibit

    def forward(self, x, valid_lens, head_mask=None):
        layer, mask = self.layer, padding_mask(valid_lens, 8)[:, None]
        q, k, v = (split_heads(W(x), 4) for W in (layer.W_q, layer.W_k, layer.W_v))
        if self.exhibit == 0:
            q, k, v = (W(x).view(-1, 4, 8, 24) for W in (layer.W_q, layer.W_k, layer.W_v))
        if self.exhibit == 1:
            mask = padding_mask(valid_lens.repeat(4), 8).unflatten(0, (-1, 4))
        scores = q @ k.mT / math.sqrt(96 if self.exhibit == 2 else 24)
        return layer.W_o(merge_heads(scores.masked_fill(~mask, -torch.inf).softmax(-1) @ v))


@each_seed
@pytest.mark.parametrize(("exhibit", "low", "high"), [(0, 0.72, 0.83), (1, 0.60, 0.64), (2, 0.999, 1)])
def test_training_hides_the_mistakes_of_the_museum(task, exhibit, low, high, seed):
    torch.manual_seed(seed)
    model = task["Reporter"](4)
    model.attention = WithMistake(model.attention, exhibit)
    assert low <= task["score"](task["train"](model, seed))[0] <= high
