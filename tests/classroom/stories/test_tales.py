"""Stories: names that are new each time, and what kind of token stands at each place."""

from itertools import pairwise

import pytest
import torch

from mha_lib.classroom.stories import ASKED, EITHER, FIRST, NEW, OTHER, REST, tales_in

each_language = pytest.mark.parametrize("language", ["en", "zh", "zh-Hant"])


def draw(tales, size=50, length=97, seed=0):
    return tales.draw(size, length, torch.Generator().manual_seed(seed))


def names_of(tales, tokens, kinds):
    """The names of a text, as they are said: tuples of tokens, and the kind of their first syllable."""
    names: list[list] = []
    for token, kind in zip(tokens.tolist(), kinds.tolist(), strict=True):
        starts = kind in (EITHER, FIRST, ASKED) or (kind == NEW and (not names or not names[-1][2]))
        if starts:
            names.append([[token], kind, True])
        elif kind in (NEW, REST):
            names[-1][0].append(token)
        elif names:
            names[-1][2] = False
    return [(tuple(name), kind) for name, kind, _ in names]


@each_language
def test_each_token_has_one_name_and_texts_are_made_of_them(language):
    tales = tales_in(language)
    assert len(set(tales.vocabulary)) == len(tales.vocabulary)
    texts = draw(tales)
    assert texts.tokens.shape == texts.kinds.shape == (50, 97)
    said = set(texts.tokens.unique().tolist())
    assert len(said) > 0.9 * len(tales.vocabulary)
    names = [tales.vocabulary[token] for token in texts.tokens[0]]
    assert tales.encode(names).equal(texts.tokens[:1])
    assert tales.encode(" ".join(names)).equal(texts.tokens[:1])
    assert tales.written(texts.tokens[0]) == (" " if language == "en" else "").join(names)


@each_language
def test_syllables_stand_in_names_alone(language):
    tales = tales_in(language)
    texts = draw(tales)
    is_syllable = texts.tokens >= len(tales.vocabulary) - len(tales.syllables)
    assert torch.equal(is_syllable, texts.kinds != OTHER)


def test_the_same_generator_draws_the_same_texts_and_another_one_others():
    tales = tales_in("en")
    assert draw(tales).tokens.equal(draw(tales).tokens)
    assert not draw(tales).tokens.equal(draw(tales, seed=1).tokens)


@each_language
def test_a_name_is_said_as_it_was_said_first(language):
    tales = tales_in(language)
    for tokens, kinds in zip(*draw(tales), strict=True):
        known: list[tuple] = []  # the names of the story so far
        for name, kind in names_of(tales, tokens, kinds)[:-1]:  # the last one may be cut
            if kind == NEW:
                known = [name] if len(known) == 2 else [*known, name]
            else:
                assert name in known


@each_language
def test_who_is_asked_is_not_the_one_who_asks(language):
    tales = tales_in(language)
    asked = 0
    for tokens, kinds in zip(*draw(tales), strict=True):
        names = names_of(tales, tokens, kinds)[:-1]
        for (asking, _), (name, kind) in pairwise(names):
            if kind == ASKED:
                asked += 1
                assert name != asking
    assert asked > 50


def test_nobody_is_asked_for_a_thing_that_the_other_one_has_not():
    tales, asked = tales_in("en"), 0
    for tokens in draw(tales).tokens:
        owners = {}
        for sentence in tales.written(tokens).split(" . ")[:-1]:  # the last one may be cut
            if " had " in sentence:
                owner, thing = sentence.removeprefix("now ").removeprefix("so ").split(" had ")
                owners[thing.split()[-1]] = owner.removesuffix(" still")
            if " asked " in sentence:
                who, thing = sentence.split(" for the ")
                asked += 1
                assert who.endswith(f" asked {owners[thing]}")
    assert asked > 50
