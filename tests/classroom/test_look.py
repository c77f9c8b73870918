"""The palette: colours that can be told apart, also by those who don't see red or green."""

import itertools

import pytest

from mha_lib.classroom.look import DARK, LIGHT
from tests.colours import VISIONS, contrast, difference

FOUR = ["q", "k", "v", "o"]
HEADS = [f"head{number}" for number in range(8)]


@pytest.mark.parametrize(("palette", "paper"), [(LIGHT, "#ffffff"), (DARK, "#111111")], ids=["light", "dark"])
def test_heads_can_be_told_apart_and_from_queries_keys_values_and_outputs(palette, paper):
    others = [(head, other) for head in HEADS for other in [*FOUR, "this"]]
    for one, other in [*itertools.combinations(HEADS, 2), *others]:
        for vision in VISIONS:
            assert difference(palette[one], palette[other], vision) > 0.085, (one, other, vision)
    for name in [*HEADS, *FOUR, "number"]:
        assert contrast(palette[name], paper) >= 3, f"{name} is seen on paper"
    assert contrast(palette["this"], palette["number"]) > 2, "the one that a picture is about stands out"
