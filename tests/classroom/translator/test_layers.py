"""The table of layers: one of its models trained anew, an order that a lesson relies on, and its measures."""

import pytest
import torch

from evidence import layers
from evidence.layers import FOUR_HEADS, LESSON, MYSTERY, ONE_LAYER, TWO_LAYERS
from evidence.tables import read_table
from mha_lib.classroom.trainings import repeated_tokens

TABLE = read_table(layers.TABLE)


def test_every_model_has_its_numbers():
    assert list(TABLE["right"]) == list(layers.ROWS)
    for name, row in layers.ROWS.items():
        assert len(TABLE["right"][name]) == len(row.seeds), name
    for part in (TWO_LAYERS, FOUR_HEADS, ONE_LAYER):
        assert {len(numbers) for numbers in TABLE[part].values()} == {len(TABLE["right"][part])}


def test_the_other_riddle_goes_through_the_values_with_every_seed():
    found = TABLE[MYSTERY]
    assert max(found["right, from the values"]) < 0.3 < 0.9 < min(found["right, from the keys"])
    assert min(found["right, layer 0 hidden from the queries"]) > 0.9


@pytest.mark.ci
def test_one_model_of_the_table_comes_out_again():
    """Another machine rounds differently, which after some steps acts like another seed."""
    model = layers.make(TWO_LAYERS, 3)
    curve = layers.train(model, 3)
    with torch.no_grad():
        assert layers.right(model) == pytest.approx(TABLE["right"][TWO_LAYERS][3], abs=0.03)
    assert curve[4].right < 0.3


def test_scores_are_weights_at_the_right_places():
    batch = repeated_tokens(20, torch.Generator().manual_seed(0))
    places = batch.tokens.shape[1] - 1
    previous, perfect = torch.zeros(20, 2, places, places), torch.zeros(20, 2, places, places)
    previous[:, 1, range(1, places), range(places - 1)] = 0.75
    for sample, ago in enumerate(batch.ago.tolist()):
        for place, steps in enumerate(ago):
            if steps:
                perfect[sample, 0, place - 1, place - steps] = 0.5
    torch.testing.assert_close(layers.previous_scores(previous), torch.tensor([0, 0.75]))
    torch.testing.assert_close(layers.induction_scores(perfect, batch), torch.tensor([0.5, 0]))
    assert layers.previous_scores(perfect)[0] == layers.induction_scores(previous, batch)[1] == 0


def test_composition_is_none_where_the_second_map_reads_what_the_first_does_not_write():
    composition = LESSON["composition_of"]
    writes, reads = torch.zeros(6, 6), torch.zeros(6, 6)
    writes[:, :3], reads[3:] = torch.rand(6, 3), torch.rand(3, 6)
    assert composition(writes, reads) == 0 < composition(reads, writes)
    one = torch.rand(6, 1) @ torch.rand(1, 6)
    assert composition(one, one.T) == pytest.approx(1)


def test_a_moment_lies_on_the_line_between_two_points():
    assert layers.moment([0, 0.5, 1], 0.75) == 37.5
    assert layers.moment([0.5, 1], 0.25) == 0
    assert layers.moment([0, 0.1], 0.5) == 25
