"""The tables of lesson 07's language models: what the lesson says of them, and one model measured anew."""

import re
from statistics import median

import pytest

from evidence.heads import run_cells
from evidence.stories import lesson_of, table_of
from evidence.tables import read_table
from mha_lib.classroom.lesson.reading import read_lesson
from mha_lib.classroom.lesson.slides import source
from mha_lib.classroom.stories import tales_in

LANGUAGES = ["en", "zh"]
each_language = pytest.mark.parametrize("language", LANGUAGES)
TABLES = {language: read_table(table_of(language)) for language in LANGUAGES}
HEADS = ["0.0", "0.1", "1.0", "1.1"]
# The medians and ranges that the lesson says, by their names here: part and measure of the table.
OF_TABLE = {
    "W100": ("right after 100 steps", "words"),
    "N100": ("right after 100 steps", "later"),
    "F200": ("right after 200 steps", "first"),
    "N200": ("right after 200 steps", "later"),
    "FIRSTS": ("as trained", "first"),
    "N300": ("right after 300 steps", "later"),
    "A300": ("right after 300 steps", "asked"),
    "L1SHARE": ("layer 1", "share"),
    "HIDQ": ("later, note hidden from", "q"),
    "HIDK": ("later, note hidden from", "k"),
    "HIDV": ("later, note hidden from", "v"),
    "L0TWO": ("layer 0", "share"),
    "LOST0": ("layer 0", "lost"),
    "LOST1": ("layer 1", "lost"),
    "SWAP0": ("layer 0", "swapped"),
    "SWAP1": ("layer 1", "swapped"),
    "ASKED": ("as trained", "asked"),
    "RIGHTSIX": ("names of six", "later"),
    "RIGHTLONG": ("384 tokens", "later"),
}


def pairs(table, part, *names):
    """For each seed the numbers of these measures."""
    return [*zip(*(table[part][name] for name in names), strict=True)]


def largest(rows):
    return [max(row) for row in rows]


def smallest(rows):
    return [min(row) for row in rows]


def in_words(numbers, language):
    """The median and the range, as the lesson says them: .95 (.87 to .98)."""
    middle, least, most = (
        short(number, language) for number in (median(numbers), min(numbers), max(numbers))
    )
    return f"{middle}（{least} 到 {most}）" if language == "zh" else f"{middle} ({least} to {most})"


def short(number, language):
    said = f"{abs(number):.2f}"
    if said.startswith("1"):
        return said.rstrip("0").rstrip(".")
    return said if language == "zh" else said.removeprefix("0")


def largest_first(table):
    """The shares of layer 1's heads, and what is lost without each: of two heads, then of other models' four.

    The largest share of a seed comes first.
    """
    right, ranks = table["later, note hidden from"]["nothing"], ["first", "second", "third", "fourth"]
    seeds = []
    for seed, all_right in enumerate(right):
        two = [
            (table["share"][head][seed], all_right - table["later without"][head][seed]) for head in HEADS[2:]
        ]
        all_right = table["four heads"]["later"][seed]
        four = [
            (
                table["four heads, share"][rank][seed],
                all_right - table["four heads, later without"][rank][seed],
            )
            for rank in ranks
        ]
        seeds.append([*sorted(two, reverse=True), *four])
    heads = [*zip(*seeds, strict=True)]
    return [[share for share, _ in head] for head in heads], [[lost for _, lost in head] for head in heads]


def said(language):
    """The words of the lesson on all seeds, each by the name of its number."""
    table = TABLES[language]
    shares = pairs(table, "share", *HEADS)
    without = pairs(table, "later without", *HEADS)
    writers = [left[2 + (share[3] > share[2])] for left, share in zip(without, shares, strict=True)]
    share, lost = largest_first(table)
    four = [*zip(*share[2:], strict=True)]
    parts_of_0 = [abs(x) for row in pairs(table, "share", "table", "0.0", "0.1", "network 0") for x in row]
    ranges = {name: table[part][measure] for name, (part, measure) in OF_TABLE.items()}
    ranges |= {
        "AFTER": [x for row in pairs(table, "after", "1.0", "1.1") for x in row],
        "BEFORE": largest(pairs(table, "before", "0.0", "0.1")),
        "SILENT": smallest(pairs(table, "later without", "0.0", "0.1")),
        "WRITER": writers,
        "SWAPONE": largest(pairs(table, "swapped alone", "1.0", "1.1")),
        "FIRST OF 2": share[0],
        "FIRST OF 4": share[2],
        "ALL 4": [*map(sum, four)],
        "LOST OF 2": lost[0],
        "LOST OF 4": lost[2],
    }
    texts = {name: in_words(numbers, language) for name, numbers in ranges.items()}
    numbers = {
        "L0SHARE": max(parts_of_0),
        "EVENBEFORE": table["even"]["before"][0],
        "EVENAFTER": table["even"]["after"][0],
    }
    alone = {name: short(number, language) for name, number in numbers.items()}
    return texts | alone


@each_language
def test_the_lesson_says_what_the_table_holds(language):
    text = "\n".join(map(source, read_lesson(lesson_of(language)).cells))
    assert {name: each for name, each in said(language).items() if each not in text} == {}


@each_language
def test_the_lesson_repeats_the_heads_of_all_seeds(language):
    table, lesson = TABLES[language], run_cells(lesson_of(language), "imports", "recorded")
    lesson = lesson["by_language"][language]
    for head in HEADS:
        assert lesson["share"][head] == pytest.approx(table["share"][head], abs=6e-3)
        assert lesson["right"][head] == pytest.approx(table["later without"][head], abs=6e-3)


@each_language
def test_of_four_heads_the_first_writes_less_than_of_two_and_is_mostly_missed_less(language):
    shown = []
    run_cells(
        lesson_of(language),
        "more-drawn",
        given={"tales": tales_in(language), "show_bars": lambda bars, *_, **__: shown.extend(bars.values())},
    )
    share, lost = largest_first(TABLES[language])
    for numbers, measures in zip(shown, (share, lost), strict=True):
        assert numbers == pytest.approx([median(each) for each in measures], abs=6e-3)
    assert all(four < two for two, four in zip(share[0], share[2], strict=True))
    assert sum(four < two for two, four in zip(lost[0], lost[2], strict=True)) >= 18
    assert max(TABLES[language]["four heads"]["layer 0"]) < 0.01


@each_language
def test_the_three_results_of_the_exercise_on_a_claim_are_those_of_the_table(language):
    lesson = read_lesson(lesson_of(language))
    (text,) = (source(cell) for cell in lesson.cells if cell["id"] == "turn-refuting")
    claimed, with_all, without_1_0, without_both = (
        int(percent) / 100 for percent in re.findall(r"(\d+) ?%", text)
    )
    table = TABLES[language]
    all_right = table["later, note hidden from"]["nothing"]
    left = [right - lost for right, lost in zip(all_right, table["layer 1"]["lost"], strict=True)]
    assert with_all - 6e-3 < min(all_right)
    assert claimed < without_1_0 < median(table["later without"]["1.0"])
    assert max(left) < without_both + 1e-3 < claimed


@each_language
def test_words_come_first_then_names_and_who_is_asked_last(language):
    table = TABLES[language]
    for words, first, later in pairs(table, "right after 100 steps", "words", "first", "later"):
        assert words > max(first, later)
    steps = ("right after 200 steps", "right after 300 steps")
    late = [asked < later for step in steps for asked, later in pairs(table, step, "asked", "later")]
    assert sum(late) >= 44, "in 22 of 24 seeds at both steps"


@each_language
def test_all_seeds_learn_the_names_and_no_head_of_layer_0_writes_them(language):
    """The lesson tells the ranges of the layers themselves."""
    table = TABLES[language]
    assert min(table["as trained"]["later"]) > 0.8
    assert max(table["swapped alone"]["0.0"] + table["swapped alone"]["0.1"]) < 0.05


@each_language
def test_each_head_of_layer_1_has_the_larger_share_on_about_half_of_the_seeds(language):
    first_leads = [first > second for first, second in pairs(TABLES[language], "share", "1.0", "1.1")]
    assert 8 <= sum(first_leads) <= 16


@each_language
def test_a_silent_head_is_missed_and_its_note_is_read_by_keys(language):
    table = TABLES[language]
    assert max(smallest(pairs(table, "later without", "0.0", "0.1"))) < 0.7
    missed_most = [min(row[:2]) == min(row) for row in pairs(table, "later without", *HEADS)]
    assert sum(missed_most) >= 23
    assert all(
        six < long
        for six, long in zip(table["names of six"]["later"], table["384 tokens"]["later"], strict=True)
    )
    assert all(keys < queries for queries, keys in pairs(table, "later, note hidden from", "q", "k"))
