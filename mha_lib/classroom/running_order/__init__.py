"""The running order of a lesson: what is shown when, with the speaker's notes, as one page to print.

A notes cell begins with its minutes: ``3 min. Show of hands first.`` A word before them, as in
``Optional, 3 min.``, takes the slide out of the core path and out of its clock.
"""

import html
import json
import re
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mha_lib.classroom.language import words_in
from mha_lib.classroom.rendering.text import Text

MINUTES = re.compile(r"\s*(?P<optional>[^\d.]*?)(?P<minutes>\d+(?:\.\d+)?)\s*(?:min|分)")
STYLE = """
:root { color-scheme: light dark; font: 15px/1.4 system-ui, sans-serif }
body { margin: 2em auto; max-width: 60em; padding: 0 1em }
table { border-collapse: collapse; width: 100% }
th, td { text-align: left; vertical-align: top; padding: .4em .6em; border-bottom: 1px solid #8886 }
td p { margin: 0 0 .3em } tr { break-inside: avoid }
td.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap }
td:nth-child(2) { min-width: 11em }
tr.optional > * { font-style: italic; opacity: .75 }
.formula math { display: none } .formula svg { fill: currentColor }
.outlines { position: absolute; width: 0; height: 0 }
@media print { :root { color-scheme: light; font-size: 10pt } body { margin: 0; max-width: none } }
"""


@dataclass
class Slide:
    title: str = ""
    notes: list[str] = field(default_factory=list)
    minutes: float = 0
    optional: bool = False


def write_running_orders(lessons: list[Path], folder: Path) -> int:
    """Write ``folder/<language>/<lesson>.html`` for each lesson; returns the exit status."""
    for lesson in lessons:
        page = folder / lesson.parent.name / f"{lesson.stem}.html"
        slides = read_slides(lesson)
        page.parent.mkdir(parents=True, exist_ok=True)
        page.write_text(running_order(lesson, slides), encoding="utf-8")
        print(f"{page}  {total(slides)}")
    return 0


def read_slides(lesson: Path) -> list[Slide]:
    """The slides as RISE cuts them: ``slide`` and ``subslide`` begin one, other cells go on with it."""
    slides: list[Slide] = []
    for cell in json.loads(lesson.read_text(encoding="utf-8"))["cells"]:
        kind = cell["metadata"].get("slideshow", {}).get("slide_type", "-")
        source = "".join(cell["source"])
        if not slides or (kind in ("slide", "subslide") and slides[-1].title):
            slides.append(Slide())
        if kind == "notes":
            add_notes(slides[-1], source)
        elif kind != "skip" and not slides[-1].title:
            heading = (
                re.search(r"^#+ (.+)$", source, re.MULTILINE) if cell["cell_type"] == "markdown" else None
            )
            slides[-1].title = heading[1] if heading else f"`{source.splitlines()[0]}`"
    return slides


def add_notes(slide: Slide, source: str) -> None:
    slide.notes.append(source)
    if found := MINUTES.match(source):
        slide.minutes += float(found["minutes"])
        slide.optional |= bool(found["optional"])


def total(slides: list[Slide]) -> str:
    core = sum(slide.minutes for slide in slides if not slide.optional)
    optional = sum(slide.minutes for slide in slides if slide.optional)
    return f"{core:g} min" + (f" and {optional:g} min optional" if optional else "")


def running_order(lesson: Path, slides: list[Slide]) -> str:
    language = lesson.parent.name
    text = Text(
        lesson.parent,
        words_in(language)["handout"],
        lambda problem: print(f"{lesson}: {problem}", file=sys.stderr),
    )
    title = json.loads(lesson.read_text(encoding="utf-8"))["metadata"].get("title", lesson.stem)
    clock, rows = 0.0, []
    for number, slide in enumerate(slides, 1):
        start = "" if slide.optional else f"{clock:g}"
        clock += 0 if slide.optional else slide.minutes
        cells: list[Any] = [
            number,
            text.markdown(slide.title),
            f"{slide.minutes:g}" if slide.minutes else "?",
            start,
        ]
        kinds = ["number", "", "number", "number"]
        row = "".join(f'<td class="{kind}">{cell}</td>' for kind, cell in zip(kinds, cells, strict=True))
        notes = "".join(map(text.markdown, slide.notes))
        rows.append(f'<tr class="{"optional" if slide.optional else ""}">{row}<td>{notes}</td></tr>')
    head = "".join(f"<th>{name}</th>" for name in ("", "Slide", "min", "from", "Notes"))
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>"
    return (
        f'<!DOCTYPE html><html lang="{language}"><meta charset="utf-8"><title>{html.escape(title)}</title>'
        f"<style>{STYLE}</style>{text.formulas.outlines()}"
        f"<h1>{html.escape(title)}: running order</h1><p>{total(slides)}</p>{table}</html>"
    )
