"""The training recipe: one result of the table of heads and seeds; by hand, the bars for three seeds."""

import pytest

from evidence.tables import read_table
from evidence.translator import SEEDS, TABLE, exam, train_briefly
from mha_lib.classroom.translator import train_translator


@pytest.mark.ci
def test_one_point_of_the_table_comes_out_again():
    """Another machine rounds differently, which after some steps acts like another seed."""
    all_numbers, zero_rich = read_table(TABLE)["2"]["early"][0]
    found = exam(train_briefly(2, 0), numbers=1000)
    assert found == (pytest.approx(all_numbers, abs=0.04), pytest.approx(zero_rich, abs=0.12))


def test_one_head_is_behind_four_where_training_is_brief():
    """For every seed and both kinds of numbers; after the whole training, in the mean of zero-rich ones."""
    table = read_table(TABLE)
    for kind in (0, 1):
        most_with_one = max(result[kind] for result in table["1"]["early"])
        assert most_with_one < min(result[kind] for result in table["4"]["early"])
    one, four = (sum(result[1] for result in table[heads]["late"]) for heads in ("1", "4"))
    assert one < four


@pytest.mark.whole
@pytest.mark.parametrize("seed", SEEDS)
def test_a_translator_reaches_the_bars(seed, tmp_path):
    all_numbers, zero_rich = exam(train_translator(seed=seed, folder=tmp_path).model)
    assert all_numbers >= 0.99
    assert zero_rich >= 0.97
