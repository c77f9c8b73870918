"""The training recipe: one result of the table of heads and seeds; by hand, the bars for three seeds."""

import resource

import pytest

from benchmarks.translator import EXAMS, HEADS, SEEDS, exam, read_table, train_briefly
from mha_lib.classroom.tasks import exact_matches, held_out_numbers, train_translator


def test_the_table_has_a_result_for_every_number_of_heads_and_seed():
    table = read_table()
    assert [int(heads) for heads in table] == list(HEADS)
    for results in table.values():
        assert list(results) == ["early", "late"]
        assert all(len(seeds) == len(SEEDS) for seeds in results.values())


def test_one_point_of_the_table_comes_out_again():
    """Another machine rounds differently, which after some steps acts like another seed."""
    all_numbers, zero_rich = read_table()["2"]["early"][0]
    found = exam(train_briefly(2, 0), numbers=1000)
    assert found == (pytest.approx(all_numbers, abs=0.04), pytest.approx(zero_rich, abs=0.12))


def test_one_head_is_behind_four_where_training_is_brief():
    """For every seed and both kinds of numbers; after the whole training, in the mean of zero-rich ones."""
    table = read_table()
    for kind in (0, 1):
        most_with_one = max(result[kind] for result in table["1"]["early"])
        assert most_with_one < min(result[kind] for result in table["4"]["early"])
    one, four = (sum(result[1] for result in table[heads]["late"]) for heads in ("1", "4"))
    assert one < four


@pytest.mark.whole
@pytest.mark.parametrize("seed", SEEDS)
def test_a_translator_reaches_the_bars(seed, tmp_path):
    before = sum(resource.getrusage(resource.RUSAGE_SELF)[:2])
    model = train_translator(seed=seed, folder=tmp_path).model
    seconds = sum(resource.getrusage(resource.RUSAGE_SELF)[:2]) - before
    assert seconds < 90
    assert exact_matches(model, held_out_numbers(EXAMS)).float().mean() >= 0.99
    assert exact_matches(model, held_out_numbers(EXAMS, zero_rich=True)).float().mean() >= 0.97
