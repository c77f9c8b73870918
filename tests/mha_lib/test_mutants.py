import ast

from tests.mha_lib.mutants import BROKEN, EQUIVALENT, ROOT, all_mutants, checked_by, source_of


def test_every_mutant_has_a_name_of_its_own_and_is_another_program():
    mutants = all_mutants()
    assert len({mutant.name for mutant in mutants}) == len(mutants) > 100
    for mutant in mutants:
        assert mutant.text != source_of(mutant.file)
        assert ast.parse(mutant.text), "a broken syntax shows nothing"


def test_every_file_that_is_broken_has_tests():
    assert not [test for file in BROKEN for test in checked_by(file) if not (ROOT / test).is_file()]


def test_every_exception_is_a_mutant_of_the_library_as_it_is():
    assert set(EQUIVALENT) <= {mutant.name for mutant in all_mutants(but=())}
