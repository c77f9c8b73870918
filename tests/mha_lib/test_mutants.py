import pytest

from tests.mha_lib.mutants import MUTANTS, applied


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_every_mutant_still_finds_its_place_in_the_library(mutant):
    assert applied(mutant)


def test_mutants_have_names_of_their_own():
    assert len({mutant.name for mutant in MUTANTS}) == len(MUTANTS)
