"""Lesson 09: lesson 01 once more, with exercises of its own names."""

import json
import re
from pathlib import Path
from typing import Any

from mha_lib.classroom.exercises import names_by_lesson
from mha_lib.classroom.lesson.files import as_json
from mha_lib.classroom.lesson.slides import IMPORTS, source
from mha_lib.classroom.lesson.translations import ENGLISH_SOURCE, hash_of

HEADING = "Add lesson 09"
TESTS = [
    "-k",
    "09_name or lesson_09 or test_lessons or readme or test_answers",
    "tests/notebooks/test_structure.py",
]
TESTS += ["tests/classroom/exercises", "tests/classroom/lesson", "tests/test_docs.py"]

FORMER, NAME = "01_single_head_attention", "09_name"
NAMES = "|".join(names_by_lesson()[FORMER])
ROW = re.compile(rf"^\| \[01 (.*)\]\(notebooks/(\w+)/{FORMER}\.ipynb\) \| (.*) \|\n", re.MULTILINE)


def make(root: Path) -> None:
    classroom, answers = root / "mha_lib" / "classroom", root / "tests" / "classroom" / "exercises"
    english: dict[str, Any] = {}
    for language, readme in (("en", "README.md"), ("zh", "README.zh.md")):
        lessons = root / "notebooks" / language
        lesson = json.loads((lessons / f"{FORMER}.ipynb").read_text(encoding="utf-8"))
        english = english or lesson
        again(lesson, english)
        (lessons / f"{NAME}.ipynb").write_text(as_json(lesson), encoding="utf-8")
        words = classroom / "words" / language
        said = json.loads((words / f"lesson_{FORMER}.json").read_text(encoding="utf-8"))
        (words / f"lesson_{NAME}.json").write_text(as_json(again_said(said)), encoding="utf-8")
        add_row(root / readme)
    for folder, written in (
        (classroom / "exercises", rf'(?:Exercise|Small)\(\s*"({NAMES})"'),
        (answers, rf"^({NAMES})(?= = Answers\()"),
    ):
        code = (folder / f"lesson_{FORMER}.py").read_text(encoding="utf-8")
        code = re.sub(
            written, lambda found: found[0].replace(found[1], f"{found[1]}_again"), code, flags=re.M
        )
        (folder / f"lesson_{NAME}.py").write_text(code, encoding="utf-8")


def again(lesson: Any, english: Any) -> None:
    """Give the lesson its own name and its exercises theirs; ``english`` is the lesson that it translates."""
    lesson["metadata"]["mha"]["lesson"] = NAME
    theirs = {cell["id"]: cell for cell in english["cells"]}
    for cell in lesson["cells"]:
        code = re.sub(rf"\bcheck\.({NAMES})\(", r"check.\1_again(", source(cell))
        if cell["id"] == "reached":  # it names them, too
            code = re.sub(rf"\b({NAMES})\b", r"\1_again", code)
        if cell["id"] == IMPORTS:
            code = code.replace('begin_lesson("01", ', 'begin_lesson("09", ')
        cell["source"] = code.splitlines(True)
        if "checks" in cell["metadata"]:
            cell["metadata"]["checks"] += "_again"
        if ENGLISH_SOURCE in cell["metadata"]:
            cell["metadata"][ENGLISH_SOURCE] = hash_of(theirs[cell["id"]])


def again_said(said: Any) -> Any:
    """The words of lesson 01 for exercises of other names; no two sentences about mistakes may be alike."""

    def of_exercise(its: Any) -> Any:
        return its if isinstance(its, str) else {name: f"{sentence} (09)" for name, sentence in its.items()}

    return {
        kind: {f"{exercise}_again": of_exercise(its) for exercise, its in by_exercise.items()}
        for kind, by_exercise in said.items()
    }


def add_row(readme: Path) -> None:
    text = readme.read_text(encoding="utf-8")
    row = ROW.search(text)
    assert row, f"{readme} has no row for lesson 01"
    new = f"| [09 {row[1]}](notebooks/{row[2]}/{NAME}.ipynb) | {row[3]} |\n"
    readme.write_text(text.replace(row[0], row[0] + new), encoding="utf-8")
