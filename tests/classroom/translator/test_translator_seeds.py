"""The table of twelve translators: one brief training done anew, and the statements that lesson 05 makes."""

from statistics import mean

import pytest

from evidence import translator_seeds
from evidence.tables import read_table
from evidence.translator_seeds import SEEDS, museum, start

TABLE = read_table(translator_seeds.TABLE)


def removed(seed, attention):
    """The shares that are right without each head of the attention, one at a time."""
    return [TABLE["removal"][f"right without {attention} {head}"][seed] for head in range(4)]


def test_every_measure_has_a_number_for_each_seed():
    assert {len(numbers) for part in TABLE.values() for numbers in part.values()} == {len(SEEDS)}


@pytest.mark.ci
def test_the_museum_of_one_seed_comes_out_again():
    """Another machine rounds differently, which after some steps acts like another seed."""
    found = museum(start(), seed=3, keep=False)
    for name in ("correct: right", "exhibit_0: right", "exhibit_1: right", "exhibit_2: right"):
        assert found[name] == pytest.approx(TABLE["museum"][name][3], abs=0.15)
    assert found["the relations that break are those of the lesson"]


def test_a_small_loss_is_no_translator_and_each_mistake_breaks_a_relation():
    found = TABLE["museum"]
    for name in ("exhibit_0", "exhibit_1"):
        assert max(found[f"{name}: last loss"]) < 0.1
        assert max(found[f"{name}: right"]) < 0.5
    assert min(found["exhibit_3: last loss"]) > 0.3
    assert min(found["correct: right"] + found["exhibit_2: right"]) > 0.9
    assert set(found["the relations that break are those of the lesson"]) == {1}
    assert set(found["exhibit_4: 345 right"] + found["exhibit_4: 333 right"]) == {0}


def test_the_alignment_appears_after_step_50_and_zeros_are_learnt_last():
    found = TABLE["learning"]
    for seed in SEEDS:
        chance = found["alignment by chance"][seed]
        assert abs(found["step 50: alignment, best head"][seed] - chance) < 0.03
        assert found["step 1000: alignment, worst head"][seed] > 2 * chance
        none, many = (
            found[f"step 400: right, {zeros} inside"][seed] for zeros in ("no zeros", "three zeros or more")
        )
        assert none > many
    assert min(found["right"]) > 0.99
    assert max(found["largest of the last 20 losses"]) < 0.05


def test_encoder_decoder_and_cross_attention_stand_in_this_order():
    for seed in SEEDS:
        encoder, decoder, cross = (mean(removed(seed, name)) for name in ("encoder", "decoder", "cross"))
        assert encoder > decoder > cross
        assert max(removed(seed, "encoder")) >= 0.95 > max(removed(seed, "cross"))


def test_a_digit_follows_the_vector_of_its_word():
    for numbers in TABLE["patch"].values():
        assert min(numbers) > 0.95


def test_the_mended_draw_mends_what_more_steps_do_not():
    found = TABLE["draw"]
    before, old, new = (found[f"{name}: rare ones right"] for name in ("before", "old draw", "mended draw"))
    assert all(a < b for a, b in zip(old, new, strict=True))
    assert sum(a < b for a, b in zip(before, new, strict=True)) == 11
    assert min(found["mended draw: all right"]) > 0.98


def test_a_wrong_number_is_aligned_as_well_as_a_right_one():
    found = TABLE["draw"]
    for seed in SEEDS:
        right, wrong = (
            found[f"before: alignment on rare and {kind}, mean head"][seed] for kind in ("right", "wrong")
        )
        assert abs(right - wrong) < 0.1
