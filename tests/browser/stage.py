"""The stage of a slide: what is seen on it, large, below the words that introduce it."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from mha_lib.classroom.lesson.grammar import has_role
from mha_lib.classroom.lesson.slides import read_lesson, read_slides

LISTS = {"title", "objectives", "learnt"}  # slides of words
MOST_WITH_CODE = 1 / 3  # of the core slides
# Of the slide that is shown: how much of its stage the largest thing takes, and whether code is open on it.
# The stage reaches from the words above the thing to the foot.
SEEN = """() => {
    const section = document.querySelector(".present > .present");
    const box = (node) => node.getBoundingClientRect();
    const isShown = (node) => box(node).height > 0;
    const kinds = ".mha-explorer, img, table, .MathJax[display=true], .cm-editor";
    const seen = [...section.querySelectorAll(kinds)].filter(isShown);
    const area = (node) => box(node).width * box(node).height;
    const thing = seen.sort((a, b) => area(b) - area(a))[0];
    if (!thing) return { share: 0, hasCode: false };
    const words = [...section.querySelectorAll("h1, h2, .jp-MarkdownOutput > p")];
    const ends = words.map((node) => box(node).bottom);
    const above = ends.filter((end) => end <= box(thing).top + 2);
    const stage = (innerHeight - 46 - Math.max(0, ...above)) * (innerWidth - 96);
    return { share: area(thing) / stage, hasCode: seen.some((node) => node.matches(".cm-editor")) };
}"""


def core_slides(lesson: Path) -> Iterator[tuple[str, str]]:
    """The address and the title of each core slide that shows something: no exercise, no list of words."""
    column, row = -1, 0
    for slide in read_slides(read_lesson(lesson)["cells"]):
        column, row = (column, row + 1) if slide.starts == "subslide" else (column + 1, 0)
        asks = any(has_role(cell, "exercise") for cell in slide.cells)
        if not slide.is_optional and not asks and not LISTS & {cell["id"] for cell in slide.cells}:
            yield f"slide-{column}-{row}", slide.title


def faults_of_stage(lesson: Path, seen: Mapping[str, Any]) -> dict[str, list[str]]:
    """Core slides of a deck that ran where nothing takes half of the stage, and too many with open code.

    ``seen`` tells what ``SEEN`` found on each slide, by the slide's address.
    """
    faults: dict[str, list[str]] = {}
    slides, with_code = list(core_slides(lesson)), []
    for address, title in slides:
        if seen[address]["hasCode"]:
            with_code.append(title)
        elif (share := seen[address]["share"]) < 0.5:
            faults[address] = [f"its largest thing takes {share:.2f} of the stage: {title}"]
    if len(with_code) > MOST_WITH_CODE * len(slides):
        faults["stage"] = [f"open code on {len(with_code)} of {len(slides)} core slides: {with_code}"]
    return faults
