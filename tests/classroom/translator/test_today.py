"""The table of lesson 06's small models: the orders that the lesson relies on, and one model trained anew."""

from statistics import mean

import pytest
import torch

from evidence import today
from evidence.heads import run_cells
from evidence.tables import read_table
from evidence.today import LENGTHS, LESSON, MEASURES, POSITIONS, ROOT, at_each_length
from mha_lib.classroom.lesson.language import source_folder
from mha_lib.classroom.lesson.lessons import written_languages

SLOWER, SLOW_PAIRS, AS_TRAINED = "all pairs 4 × slower", "slow pairs 4 × slower", "as trained"
MORE = ", 50 steps more"
TABLE = read_table(today.TABLE)


def test_every_model_has_a_number_for_each_seed():
    for name, (_, seeds) in MEASURES.items():
        counts = {len(numbers) for measures in TABLE[name].values() for numbers in measures.values()}
        assert counts == {len(seeds)}


@pytest.mark.parametrize("language", written_languages(ROOT))
def test_the_lesson_repeats_the_table(language):
    lesson = source_folder(ROOT, language) / "06_heads_today.ipynb"
    of_seeds = run_cells(lesson, "imports", "recorded")["of_seeds"]
    for kind in POSITIONS:
        for length, repeated in zip(LENGTHS, of_seeds["positions"][kind], strict=True):
            numbers = TABLE["positions"][kind][str(length)]
            assert repeated == pytest.approx((min(numbers), mean(numbers), max(numbers)), abs=6e-4)
    after = {name: each["after"] for name, each in TABLE["converted"].items() if "after" in each}
    assert of_seeds["converted"] == after


def test_alibi_reaches_farthest_and_nothing_else_four_times_as_far():
    reached = TABLE["positions"]
    others = [kind for kind in POSITIONS if kind != "ALiBi"]
    assert min(reached["ALiBi"]["160"]) > 0.6 > 0.2 > max(max(reached[kind]["160"]) for kind in others)
    assert max(reached["learnt"]["80"]) < 0.1
    assert max(reached["none"]["40"]) < 0.5 < min(reached["learnt"]["40"])


def test_slower_rotation_needs_training_and_training_helps_each():
    reached = TABLE["positions"]
    assert max(reached[SLOWER]["40"]) < 0.2
    for name in (AS_TRAINED, SLOWER, SLOW_PAIRS):
        for before, after in zip(reached[name]["160"], reached[name + MORE]["160"], strict=True):
            assert before < 0.7
            assert after > before + 0.1
    best = mean(reached[SLOW_PAIRS + MORE]["160"])
    assert best > max(mean(reached[name + MORE]["160"]) for name in (AS_TRAINED, SLOWER))


def test_a_sliding_cache_is_better_than_all_keys_and_better_still_with_the_first_token():
    everything, window, with_first = (TABLE["streamed"][name]["loss"] for name in LESSON["keeps"])
    for all_keys, last, first_too in zip(everything, window, with_first, strict=True):
        assert all_keys > 3 > last > first_too
    assert min(TABLE["streamed"]["the last 40"]["right"]) > 0.9
    for weights in TABLE["streamed"]["weight on the first"].values():
        assert min(weights) > 0.2


def test_means_are_the_best_start_on_the_average_and_random_keys_stay_behind():
    for heads in (2, 1):
        of_mean, of_first, of_random = (
            TABLE["converted"][f"{heads}, {start}"]["after"] for start in ("mean", "first", "random")
        )
        assert mean(of_mean) > mean(of_first) > mean(of_random)
        assert min(of_mean) > max(of_random)


@pytest.mark.ci
def test_one_model_of_the_table_comes_out_again():
    """Another machine rounds differently, which after some steps acts like another seed."""
    torch.manual_seed(0)
    reached = at_each_length(LESSON["train_reader"](LESSON["Reader"]("rotary")))
    assert reached["40"] > 0.8
    assert reached["160"] < 0.2
