"""What lesson 04 says of one trained translator holds for five. By hand, with ``-m whole``.

The translators are kept in build/translators/; where it lacks one, it is trained, in about a minute.
"""

import pytest
import torch

from benchmarks.heads import run_cells
from benchmarks.translator import ROOT, read_table
from mha_lib.classroom.tasks import (
    alignment_scores,
    all_heads,
    chance_of_alignment,
    evened,
    exact_matches,
    held_out_numbers,
    importance_by_removal,
    least_important_first,
    make_batch,
    permuted,
    pruning_curve,
    train_translator,
)

pytestmark = pytest.mark.whole
LESSON = ROOT / "notebooks" / "en" / "04_trained_heads.ipynb"  # the code cells are the same in each language
HELPERS = ("imports", "table", "zeros-helpers", "jobs-code", "shares-of-jobs", "right-without", "right-with")
ATTENTIONS = ("encoder", "decoder", "cross")


@pytest.fixture(scope="module", autouse=True)
def one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module", params=range(5), ids=lambda seed: f"seed{seed}")
def lesson(request, one_thread):
    """What the cells of the lesson define, with a translator of another seed."""
    namespace = run_cells(LESSON, *HELPERS)
    training = train_translator(seed=request.param, folder=ROOT / "build" / "translators")
    namespace |= {
        "training": training,
        "translator": training.model.cpu(),
        "exam": held_out_numbers(500).tolist(),
        "kinds": torch.cat([held_out_numbers(400), held_out_numbers(600, zero_rich=True)]),
        "seed": request.param,
    }
    return namespace


def of_attention(lesson, name):
    return [head for head in all_heads(lesson["translator"]) if head.attention == name]


def test_almost_every_unseen_number_is_right(lesson):
    assert exact_matches(lesson["translator"], lesson["exam"]).float().mean() > 0.99


def test_zeros_inside_are_learnt_last(lesson):
    by_step = {
        step: lesson["right_by_zeros"](lesson["training"].model_at(step), lesson["kinds"])
        for step in (50, 150, 400, 1000)
    }
    assert by_step[50] == [0, 0, 0, 0]
    assert by_step[150][0] <= 0.3
    assert by_step[400][0] > by_step[400][3] + 0.05
    assert min(by_step[1000]) > 0.97


def test_the_alignment_appears_between_steps_50_and_1000(lesson):
    batch = make_batch(lesson["exam"])
    chance = chance_of_alignment(batch)
    assert chance == pytest.approx(0.093, abs=0.005)
    early = alignment_scores(lesson["training"].model_at(50), batch)[0]
    assert (early - chance).abs().max() < 0.02
    late = alignment_scores(lesson["translator"], batch)[0]
    assert late.min() > 0.2
    assert 0.55 < late.max() < 0.85


def test_each_kind_of_numeral_has_a_head_and_no_head_has_one_kind_alone(lesson):
    jobs = lesson["shares_of_jobs"](lesson["translator"], lesson["kinds"][::2].tolist())
    best = {kind[0]: shares.max().item() for kind, shares in jobs.items()}  # by the first letter
    assert best["万"] > 0.8
    assert best["零"] > 0.4
    assert best["d"] > 0.7
    second_job = torch.stack(list(jobs.values())).sort(0).values[-2]  # (H,)
    assert second_job.min() > 0.2


def test_the_encoder_can_spare_a_head_and_the_cross_attention_cannot(lesson):
    right = {
        name: [lesson["right_without"](head) for head in of_attention(lesson, name)] for name in ATTENTIONS
    }
    assert sum(right["encoder"]) > sum(right["decoder"]) > sum(right["cross"])
    assert 2 <= sum(share >= 0.95 for share in right["encoder"]) <= 4
    assert max(right["encoder"]) > 0.97
    assert max(right["cross"]) < 0.8


def test_two_heads_can_go_and_half_of_them_cannot(lesson):
    translator, exam = lesson["translator"], lesson["exam"]
    order = least_important_first(importance_by_removal(translator, make_batch(exam)))
    least_first = pruning_curve(translator, exam[:200], order[:6])
    assert least_first[2] > 0.9
    assert least_first[6] < 0.5
    assert pruning_curve(translator, exam[:200], order[-1:])[1] < 0.3


@pytest.mark.parametrize("change", [evened, permuted])
def test_decoder_and_cross_attention_need_their_weights(lesson, change):
    torch.manual_seed(0)
    right = {name: lesson["right_with"](change, of_attention(lesson, name)) for name in ATTENTIONS}
    assert right["decoder"] == right["cross"] == 0
    assert 0.02 < right["encoder"] < 0.95


def test_a_search_as_in_the_solution_breaks_every_translator(lesson):
    """Numbers like fourteen million seven are rare in training; of all numbers hardly one is wrong."""
    teens = [millions * 1_000_000 + rest for millions in range(10, 20) for rest in range(1, 100)]
    right = exact_matches(lesson["translator"], teens).float().mean()
    assert 0.1 < right < 0.99


def test_the_numbers_of_heads_in_the_lesson_are_those_of_the_table():
    copied = run_cells(LESSON, "heads-and-seeds")["heads_and_seeds"]
    rounded = {
        int(heads): {
            time: [tuple(round(share, 3) for share in seed) for seed in seeds] for time, seeds in of.items()
        }
        for heads, of in read_table().items()
    }
    flat = [
        (copied[heads][time][seed], rounded[heads][time][seed])
        for heads in rounded
        for time in ("early", "late")
        for seed in range(3)
    ]
    assert copied.keys() == rounded.keys()
    for here, there in flat:
        assert here == pytest.approx(there, abs=0.0011)  # halves may be rounded either way


@pytest.mark.parametrize("seed", range(2))
def test_a_small_loss_is_no_translator(seed):
    """The museum, with other numbers: two exhibits have a loss near 0 and write nonsense."""
    museum = run_cells(LESSON, "imports", "table", "museum-correct", "exhibits-code", "train-exhibits-code")
    exam = held_out_numbers(100, max_digits=3)

    def trained(version):
        def loss(model, batch):
            logits, labels = version(model, batch)
            return torch.nn.functional.cross_entropy(logits.flatten(0, 1), labels.flatten())

        training = museum["Training"](
            museum["make_translator"](seed=seed), loss, steps=120, batch_size=64, max_digits=3, seed=seed
        ).run(show_progress=False)
        return training.losses[-1], exact_matches(training.model.cpu(), exam).float().mean()

    for name in ("exhibit_0", "exhibit_1"):
        loss, right = trained(museum[name])
        assert loss < 0.1
        assert right < 0.5
    assert trained(museum["exhibit_2"])[1] > 0.9
    loss, right = trained(museum["exhibit_3"])
    assert loss > 0.3
    assert right < 0.1
