"""Draws stories from a few sentences, with names that are made up anew for each story.

Two animals meet. Each has a thing; one asks the other for it, who gives it or keeps it. Sentences about the
weather stand between. A name is some syllables that nobody has heard together before, so whoever says it
again must have looked it up in the text.
"""

import json
import random
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor

from mha_lib.classroom.lesson.language import ENGLISH, find_for_language, language_here
from mha_lib.classroom.lesson.made import said_in

FOLDER = Path(__file__).parent

# The kinds of tokens.
OTHER = 0  # a word of no name
NEW = 1  # a syllable of a name that is said for the first time: it can't be known
EITHER = 2  # the first syllable of a known name; the text leaves it open which of the two
FIRST = 3  # the first syllable of a known name; the text says which
ASKED = 4  # the first syllable of the animal that is asked: the one that doesn't ask
REST = 5  # a later syllable of a known name: the one that followed the last time
MARKS = {"+": NEW, "?": EITHER, "=": FIRST, ">": ASKED}  # of a name in a sentence, such as "+A"

BETWEEN = 1 / 3  # how often a sentence about the weather stands before another
MOST_REQUESTS = 3  # in a story

Said = list[tuple[str, int]]  # tokens by name, and their kinds


class Texts(NamedTuple):
    """Stories one after another, cut to one length."""

    tokens: Tensor  # (B, N)
    kinds: Tensor  # (B, N), what kind of token stands at each place


class Tales:
    """The stories of one language.

    words  ``between``: what stands between two written words; ``syllables`` of names and their
           ``lengths``; ``animals``, ``looks``, ``places``, ``things``; the sentences ``opening``,
           ``meeting``, ``owning``, ``asking``, ``giving``, ``keeping``, and those about the ``weather``, with
           a blank between any two tokens. ``+A`` is a name that is said for the first time, ``=A`` and
           ``>A`` are names that the text determines, ``?A`` is one that it doesn't

    ``vocabulary`` names each token: first the words, then the syllables.
    """

    def __init__(self, words: Mapping[str, Any]):
        self.words, self.spaced = words, bool(words["between"])
        lists = [words[name] for name in ("opening", "meeting", "owning", "asking", "giving", "keeping")]
        lists += [words[name] for name in ("animals", "looks", "places", "things", "weather")]
        said = (token for sentences in lists for sentence in sentences for token in sentence.split())
        story_words = (token for token in said if token[0] not in {*MARKS, "{"})
        self.syllables = words["syllables"].split()
        self.vocabulary = [*dict.fromkeys(story_words), *self.syllables]
        self.numbers = {name: number for number, name in enumerate(self.vocabulary)}

    def draw(self, size: int, length: int, generator: torch.Generator) -> Texts:
        """Draw ``size`` texts of ``length`` tokens; each begins with a story."""
        rng = random.Random(int(torch.randint(2**62, (), generator=generator)))
        drawn = []
        for _ in range(size):
            said: Said = []
            while len(said) < length:
                said += self.story(rng)
            drawn.append([(self.numbers[name], kind) for name, kind in said[:length]])
        tokens, kinds = torch.tensor(drawn).unbind(-1)  # (B, N) each
        return Texts(tokens, kinds)

    def encode(self, text: str | Iterable[str]) -> Tensor:
        """The numbers (1, N) of tokens, as a list or with blanks between them."""
        names = text.split() if isinstance(text, str) else text
        return torch.tensor([[self.numbers[name] for name in names]])

    def written(self, tokens: Iterable[int]) -> str:
        """The text as people write it."""
        between: str = self.words["between"]
        return between.join(self.vocabulary[int(token)] for token in tokens)

    def story(self, rng: random.Random) -> Said:
        """Draw one story: two names, where they meet, who has what, and up to three requests."""
        words = self.words
        lengths = rng.choices(words["lengths"], k=2)
        syllables = rng.sample(self.syllables, sum(lengths))
        names = [syllables[: lengths[0]], syllables[lengths[0] :]]
        animals = [
            animal.format(look=rng.choice(words["looks"])) for animal in rng.sample(words["animals"], 2)
        ]
        owned = [[thing] for thing in rng.sample(words["things"], 2)]
        said: Said = []

        def say(sentences: list[str], first: int, **gaps: str) -> None:
            """Say sentences in which A is the animal ``first``."""
            of_letter = {"A": names[first], "B": names[1 - first]}
            for sentence in sentences:
                if rng.random() < BETWEEN:
                    said.extend(self.told(rng.choice(words["weather"]), {}))
                said.extend(self.told(sentence.format(**gaps), of_letter))

        say(words["opening"], 0, animal=animals[0], place=rng.choice(words["places"]))
        say(words["meeting"], 0, animal=animals[1])
        for owner in rng.sample([0, 1], 2):
            say(words["owning"], owner, thing=owned[owner][0])
        for _ in range(rng.randint(1, MOST_REQUESTS)):
            asks = rng.choice([animal for animal in (0, 1) if owned[1 - animal]])
            thing = rng.choice(owned[1 - asks])
            say(words["asking"], asks, thing=thing)
            gives = rng.random() < 0.5
            say(words["giving" if gives else "keeping"], asks, thing=thing)
            if gives:
                owned[1 - asks].remove(thing)
                owned[asks].append(thing)
        return said

    @staticmethod
    def told(sentence: str, of_letter: Mapping[str, list[str]]) -> Said:
        """The tokens of a sentence; a mark and a letter stand for a whole name."""
        said: Said = []
        for token in sentence.split():
            if token[0] not in MARKS:
                said.append((token, OTHER))
                continue
            first, *rest = of_letter[token[1:]]
            kind = MARKS[token[0]]
            said.append((first, kind))
            said += [(syllable, NEW if kind == NEW else REST) for syllable in rest]
        return said


def tales_in(language: str) -> Tales:
    """The stories of a language, or of one near to it; English ones for a language without stories."""
    file = find_for_language(FOLDER, language, ".json") or FOLDER / f"{ENGLISH}.json"
    words = json.loads(file.read_text(encoding="utf-8"))
    return Tales(said_in(language, words))


def tales_here() -> Tales:
    """The stories in the language of the lesson that is running."""
    return tales_in(language_here())
