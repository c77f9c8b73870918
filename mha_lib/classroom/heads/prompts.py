"""Texts whose next token shows what heads of a real model do, as lesson 08 asks them: a third is held back.

Names, nouns and templates of the texts that are held back occur in no other text of their kind. The judge of
a claim takes these alone, so that a claim is never tested on what suggested it.
"""

import random
from collections.abc import Callable, Sequence
from typing import NamedTuple

SHOWN_COUNT, HELD_BACK_COUNT = 70, 35  # prompts of each kind


class Prompt(NamedTuple):
    text: str
    right: str  # the token that should follow, with its blank
    wrong: str  # the one that tempts
    places: dict[str, int]  # where words stand that heads may look at: their first letters in the text


class Words(NamedTuple):
    """The words of which the texts of one part are made."""

    women: str
    men: str
    things: str
    gives: Sequence[str]
    singular: str
    plural: str
    between: Sequence[str]
    lent: Sequence[str]
    colours: str
    items: str


SHOWN = Words(
    women="Mary Anna Sarah Emma Alice Julia Lisa Maria",
    men="John Tom Paul Peter Mark James David Robert",
    things="drink book key ring map coin cake hat",
    gives=(
        "When {one} and {two} went to the store, {giver} gave a {thing} to",
        "When {one} and {two} sat in the park, {giver} decided to give the {thing} to",
        "After {one} and {two} left the school, {giver} gave a {thing} to",
        "While {one} and {two} were working at home, {giver} handed the {thing} to",
        "Then {one} and {two} had a long talk, and {giver} passed the {thing} to",
        "{one} and {two} met in the garden, and {giver} gave the {thing} to",
    ),
    singular="key picture book friend teacher letter box dog child tree",
    plural="keys pictures books friends teachers letters boxes dogs children trees",
    between=("to", "near", "behind", "of", "beside", "from"),
    lent=("lent", "sent", "showed"),
    colours="red blue green yellow black white",
    items="apple chair window tiger table river bottle flower",
)
HELD_BACK = Words(
    women="Laura Jane Kate Helen",
    men="Michael Daniel Adam Jack",
    things="ball cup coat bag",
    gives=(
        "When {one} and {two} came back from the market, {giver} gave a {thing} to",
        "After {one} and {two} had found the old house, {giver} gave the {thing} to",
        "Yesterday {one} and {two} were on the train, and {giver} handed a {thing} to",
    ),
    singular="door student song river doctor",
    plural="doors students songs rivers doctors",
    between=("above", "with", "under"),
    lent=("gave", "sold"),
    colours="brown pink orange purple gray silver",
    items="horse guitar lamp bridge candle mirror rabbit piano",
)


def drinks(words: Words, draw: random.Random) -> Prompt:
    """Two people are named, and one of them gives: the other one gets it."""
    giver, getter = draw.sample((words.women + " " + words.men).split(), 2)
    one, two = draw.choice([(giver, getter), (getter, giver)])
    thing = draw.choice(words.things.split())
    text = draw.choice(words.gives).format(one=one, two=two, giver=giver, thing=thing)
    places = {"again": text.rindex(giver), "getter": text.index(getter)}
    return Prompt(text, f" {getter}", f" {giver}", places | {"giver": text.index(giver)})


def numbers(words: Words, draw: random.Random, is_plural: bool = True) -> Prompt:
    """A subject, and another noun of the other number after it."""
    one, many = words.singular.split(), words.plural.split()
    first, last = draw.sample(range(len(one)), 2)
    subject, other = (many[first], one[last]) if is_plural else (one[first], many[last])
    text = f"The {subject} {draw.choice(words.between)} the {other}"
    right, wrong = (" are", " is") if is_plural else (" is", " are")
    return Prompt(text, right, wrong, {"subject": 4, "last": len(text) - len(other)})


def lists(words: Words, draw: random.Random) -> Prompt:
    """Four coloured things, and the list once more, up to the third colour."""
    colours, items = draw.sample(words.colours.split(), 4), draw.sample(words.items.split(), 4)
    pairs = [f"{colour} {item}" for colour, item in zip(colours, items, strict=True)]
    text = ", ".join([*pairs, *pairs[:2], colours[2]])
    places = {"next": text.index(items[2]), "before": text.rindex(items[1])}
    return Prompt(text, f" {items[2]}", f" {items[1]}", places)


def pronouns(words: Words, draw: random.Random) -> Prompt:
    """Somebody lends something to somebody; then a pronoun means one of the two."""
    woman, man = draw.choice(words.women.split()), draw.choice(words.men.split())
    giver, getter = draw.choice([(woman, man), (man, woman)])
    meant, pronoun = draw.choice([(woman, "she"), (man, "he")])
    thing = draw.choice(words.things.split())
    text = f"{giver} {draw.choice(words.lent)} {getter} a {thing}, and {pronoun}"
    other = man if meant == woman else woman
    return Prompt(text, "", "", {"meant": text.index(meant), "other": text.index(other)})


def brackets(words: Words, draw: random.Random) -> Prompt:
    """A bracket is open, and may be closed now."""
    first, second = draw.sample(words.plural.split(), 2)
    text = f"They saw the {draw.choice(words.singular.split())} ({first} and {second}"
    return Prompt(text, ")", ",", {"bracket": text.index("(")})


def singulars(words: Words, draw: random.Random) -> Prompt:
    return numbers(words, draw, is_plural=False)


KINDS: dict[str, Callable[[Words, random.Random], Prompt]] = {
    "drinks": drinks,
    "plurals": numbers,
    "singulars": singulars,
    "lists": lists,
    "brackets": brackets,
    "pronouns": pronouns,
}


def prompts(kind: str, held_back: bool = False) -> list[Prompt]:
    """The texts of one of the ``KINDS``: 70, or the 35 that are held back. They are always the same."""
    draw = random.Random(kind)
    make, found = KINDS[kind], dict[str, Prompt]()
    while len(found) < (HELD_BACK_COUNT if held_back else SHOWN_COUNT):
        prompt = make(HELD_BACK if held_back else SHOWN, draw)
        found[prompt.text] = prompt
    return [*found.values()]


# Single texts that the slides show.
EXAMPLES = {
    "drink": "When Mary and John went to the store, John gave a drink to",
    "keys": "The keys to the cabinet",
    "list": "red apple, blue chair, green window, yellow tiger, red apple, blue chair, green",
    "capital": "The capital of France is",
    "plate": "Tom and Anna were hungry. Tom cooked, and then Tom gave the plate to",
    "bracket": "They saw the letter (pictures and books",
    "day": "If today is Monday, tomorrow is",
}

# Plain texts: where heads look without a task, and the mean outputs that stand in for heads taken away.
SENTENCES = """\
The old man walked slowly along the river and looked at the boats.
My sister bought three loaves of bread and a bag of apples this morning.
In the winter the small village is often covered with snow for weeks.
She opened the window because the room was warm and full of smoke.
The teacher wrote a long word on the board and asked us to read it.
A black cat was sleeping on the roof of the house next to the church.
After dinner they played cards until the rain stopped and the moon came out.
The museum will be closed on Monday while the new doors are put in.
He could not find his keys, so he waited outside for almost an hour.
The farmer said that the field near the road had been sold last year.
Most of the students had never seen the sea before that summer.
Our train left the station ten minutes late and arrived on time.
The doctor told him to rest for a week and to drink more water.
When the music began, the children stood up and started to dance.
The company wants to build a bridge between the two parts of the town.
I have read this book twice, and I still do not know how it ends.
The soup was too hot, so we talked for a while before we ate.
Nobody in the office knew why the lights had gone out again.
The garden behind the school is open to everyone on Sundays.
They carried the heavy table up the stairs and put it by the wall.
The pilot looked at the clouds and decided to wait until the evening.
A letter from her brother was lying under the newspaper on the desk.
The shop on the corner sells old maps, stamps and very good coffee.
We followed the path through the forest until we reached a small lake.
The judge listened to both sides and then asked for more time.
His grandmother kept a box of photographs in the lowest drawer.
The city has planted more than a thousand trees since the spring.
It was so quiet in the library that one could hear the clock.
The engine made a strange noise and stopped in the middle of the road.
Before the game the players shook hands and walked to their places.""".splitlines()
