"""Lesson 08 says of a real model's heads what was measured, and runs with the model itself."""

import re
from statistics import median
from typing import Any

import nbformat
import psutil
import pytest
from nbclient import NotebookClient

from mha_lib.classroom import fetch
from mha_lib.classroom.heads.asked import real_heads
from mha_lib.classroom.lesson.language import words_in
from mha_lib.classroom.lesson.reading import read_lesson
from mha_lib.classroom.lesson.slides import source
from tests.lessons import ENGLISH, TRANSLATED, copy_course, name_of

LESSONS = [each for each in ENGLISH + TRANSLATED if each.stem.startswith("08")]
MOST_SECONDS, MOST_BYTES = 15, 1.5e9  # of a cell, and of the kernel, on two cores
PARTS = ("shown", "held back")
BUSY = 2  # times as long as that on CI's machine


def both(name: str, measure: str) -> list[float]:
    """A measure of all prompts, those shown and those held back."""
    return [number for part in PARTS for number in real_heads(f"{name}, {part}")[measure]]


def rate(name: str, measure: str) -> float:
    numbers = both(name, measure)
    return sum(number > 0 for number in numbers) / len(numbers)


def mean(name: str, measure: str) -> float:
    numbers = both(name, measure)
    return sum(numbers) / len(numbers)


def of_head(kind: str, measure: str, layer: int, head: int, part: str = "shown") -> float:
    return real_heads(f"{kind}, {part}")[measure][layer][head]


def said() -> dict[str, list[float]]:
    """The numbers of each why, by the name of its cell."""
    meant = {part: [x for row in real_heads(f"pronouns, {part}")["meant"] for x in row] for part in PARTS}
    best = max(range(270), key=meant["shown"].__getitem__)
    assert best == 9 * 9 + 4
    return {
        "riddle-why": [rate("drinks", "lead"), rate("drinks", "likeliest")],
        "hidden-why": [
            median(both("sentences", f"loss{way}")) for way in ("", " hidden", " window", " sink")
        ],
        "names-why": [
            of_head("said twice", "map same", *head) for head in ((18, 6), (17, 4), (17, 3), (17, 5))
        ],
        "without-why": [mean("said twice", f"right {name}") for name in ("all", "16.0", "11.1")]
        + [rate("of lists", f"right {name}") for name in ("all", "16.0", "11.1")]
        + [median(both("said twice", f"loss {name}")) for name in ("all", "16.0")],
        "note-why": [mean("said twice", f"right {name}") for name in ("all", "queries", "keys", "values")],
        "look-why": [of_head("drinks", "on again", 23, 3), of_head("drinks", "on getter", 23, 0)],
        "writes-why": [
            median(both("of drinks", "writes giver")),
            *(rate("of drinks", f"right {x}") for x in ("23.3", "both")),
        ],
        "silent-why": [
            median(both("drinks", "lead")),
            median(both("of drinks", "lead 20.0")),
            median(both("of drinks", "looks 20.0")),
        ],
        "three-why": [of_head("plurals", x, *head) for x, head in (("patched", (26, 0)), ("lost", (11, 1)))],
        "keys-why": [
            rate("plurals", "lead"),
            *(rate("of plurals", f"right {x}") for x in ("both", "others")),
            rate("singulars", "lead"),
            of_head("plurals", "on subject", 26, 0),
            of_head("plurals", "on subject", 26, 0, "held back"),
        ],
        "loud-why": [of_head("brackets", "on bracket", 26, 6), of_head("brackets", "share right", 26, 6)],
        "pronouns-why": [meant["shown"][best], meant["held back"][best]],
    }


def short(number: float, is_chinese: bool) -> str:
    said = re.sub(r"^1\.00$", "1", f"{abs(number):.2f}")
    return said if is_chinese else said.removeprefix("0")


@pytest.mark.parametrize("lesson", LESSONS, ids=name_of)
def test_the_lesson_says_what_was_measured(lesson):
    text = {cell["id"]: source(cell) for cell in read_lesson(lesson).cells}
    is_chinese = lesson.parent.name == "zh"
    missing = {
        cell: absent
        for cell, numbers in said().items()
        if (absent := [short(x, is_chinese) for x in numbers if short(x, is_chinese) not in text[cell]])
    }
    assert missing == {}


def test_what_the_lesson_claims_of_heads_holds_on_the_prompts_held_back():
    held = {name: real_heads(f"{name}, held back") for name in ("plurals", "drinks", "pronouns", "of drinks")}
    assert held["plurals"]["without"][26][0] < 0.1 < 0.5 < held["plurals"]["without"][26][1]
    assert max(held["of drinks"]["writes giver"]) < 0
    assert held["drinks"]["on again"][23][3] > 0.5 > 0.2 > held["drinks"]["on getter"][23][3]
    assert abs(held["drinks"]["share right"][20][0] - held["drinks"]["share wrong"][20][0]) < 0.2
    assert held["pronouns"]["meant"][9][4] > 0.9


@pytest.mark.ci
def test_the_lesson_runs_with_the_model(tmp_path):
    """pip fetches it; no setting of the tests keeps it."""
    course = copy_course(tmp_path, only=LESSONS[0].name)
    assert fetch.fetch(course, None, "en") == 0
    lesson = course / LESSONS[0].relative_to(LESSONS[0].parents[2])
    notebook = nbformat.read(lesson, as_version=4)
    resources = {"metadata": {"path": str(lesson.parent)}}
    client = NotebookClient(notebook, timeout=BUSY * MOST_SECONDS, resources=resources)
    with client.setup_kernel():
        client.execute(cleanup_kc=False)
        manager: Any = client.km
        kernel = psutil.Process(manager.provisioner.pid)
        assert kernel.memory_info().rss < MOST_BYTES
    live = words_in("en")["real_model"]["live"]
    told = [cell.id for cell in notebook.cells if live in str(cell.get("outputs"))]
    assert told == [*(f"{slide}-asserted" for slide in ("riddle", "speaks", "look", "three"))]
