"""The table of lesson 06's small models: what the lesson says of it, and one model trained anew."""

from statistics import median

import pytest
import torch

from evidence import today
from evidence.heads import run_cells
from evidence.tables import read_table
from evidence.today import CACHES, FILE, LENGTHS, LESSON, POSITIONS, ROOT, WINDOWS, at_each_length
from mha_lib.classroom.lesson.language import source_folder
from mha_lib.classroom.lesson.lessons import written_languages

TABLE = read_table(today.TABLE)
READ, STREAMED = TABLE["positions"], TABLE["streamed"]


@pytest.mark.parametrize("language", written_languages(ROOT))
def test_the_lesson_repeats_the_table(language):
    lesson = run_cells(source_folder(ROOT, language) / FILE.name, "recorded")
    for kind in POSITIONS:
        for length, said in zip(LENGTHS, lesson["by_positions"][kind], strict=True):
            numbers = READ[kind][str(length)]
            assert said == pytest.approx((min(numbers), median(numbers), max(numbers)), abs=1e-3)
    for kind, windows in lesson["by_window"].items():
        assert tuple(windows) == WINDOWS
        for window, said in windows.items():
            found = [median(READ[f"{kind}, window {window}"][str(length)]) for length in LENGTHS]
            assert said == pytest.approx(found, abs=1e-3)
    assert [*lesson["read_losses"].values()] == [STREAMED[name]["loss"] for name in CACHES]
    for name, said in zip([*STREAMED][len(CACHES) :], lesson["on_the_first"].values(), strict=True):
        heads = STREAMED[name].values()
        assert said == [number for pair in zip(*heads, strict=True) for number in pair]


def test_alibi_reaches_farthest_without_a_window_and_rotary_with_one():
    assert min(READ["ALiBi"]["320"]) > 0.6 > 0.2 > max(READ["rotary"]["160"] + READ["learnt"]["80"])
    rotary, alibi = READ["rotary, window 24"]["320"], READ["ALiBi, window 24"]["320"]
    assert sum(some > other for some, other in zip(rotary, alibi, strict=True)) >= 22
    assert median(rotary) > median(READ["rotary"]["40"]) - 0.02


def test_a_sliding_cache_is_better_than_all_keys_and_better_still_with_the_first_token():
    everything, window, with_first = (STREAMED[name]["loss"] for name in CACHES)
    for all_keys, last, first_too in zip(everything, window, with_first, strict=True):
        assert all_keys > last + 0.5 > last > first_too


def test_each_head_leaves_its_weight_on_a_short_value_where_nothing_can_be_known():
    for head in ("head 0", "head 1"):
        blind, knowing, first, others = (STREAMED[name][head] for name in [*STREAMED][len(CACHES) :])
        assert all(some > other for some, other in zip(blind + others, knowing + first, strict=True))


def test_reading_with_a_window_leaves_the_callers_reader_without_one():
    reader = LESSON["Reader"]("rotary")
    LESSON["right_at_the_end"](reader, 40, window=24)
    assert [layer.window for layer in reader.layers] == [None, None]


@pytest.mark.ci
def test_one_model_of_the_table_comes_out_again():
    """Another machine rounds differently, which after some steps acts like another seed."""
    torch.manual_seed(0)
    reader = LESSON["train_reader"](LESSON["Reader"]("rotary"))
    assert at_each_length(reader)["320"] < 0.2 < 0.7 < at_each_length(reader, window=24)["320"]


@pytest.mark.ci
def test_the_layers_of_four_models_are_rebuilt_in_their_published_sizes():
    pytest.importorskip("transformers")
    lesson = run_cells(FILE, "configuration", "theirs-asserted", given=LESSON)
    for name, (_, _, recorded) in lesson["compared"].items():
        assert lesson["differences"][name] < 10 * recorded, name
