"""A French course, which says the English sentences between ⟦ and ⟧."""

import json
import re
import shutil
from pathlib import Path
from typing import Any

from mha_lib.classroom.lesson.reading import as_file, read_lesson
from mha_lib.classroom.lesson.slides import IMPORTS, source
from mha_lib.classroom.lesson.translations import ENGLISH_SOURCE, hash_of
from tests.brackets import bracketed
from tests.drawings import words_of_drawing

HEADING = "Add French"
IF_NEEDED = ("README.fr.md", "docs/fr/")
TESTS = ["-k", "fr or every_language or gap", "tests/notebooks/test_structure.py", "tests/classroom/lesson"]


def make(root: Path) -> None:
    lessons, words = root / "notebooks", root / "mha_lib" / "classroom" / "words"
    shutil.copytree(lessons / "en", lessons / "fr")
    for lesson in (lessons / "fr").glob("*.ipynb"):
        lesson.write_text(as_file(in_french(read_lesson(lesson).copy())), encoding="utf-8")
    (words / "fr").mkdir()
    for file in (words / "en").glob("*.json"):
        said = json.dumps(bracketed(json.loads(file.read_text(encoding="utf-8"))), ensure_ascii=False)
        said = re.sub(r"⟦([\d.]+ min\. )", r"\1⟦", said)  # the minutes of a slide begin its notes
        (words / "fr" / file.name).write_text(said, encoding="utf-8")
    figures = {
        file.name: {word: f"⟦{word}⟧" for word in words_of_drawing(file.read_bytes())}
        for file in (root / "img").glob("*.svg")
    }
    (root / "img" / "words" / "fr.json").write_text(json.dumps(figures), encoding="utf-8")


def in_french(notebook: Any) -> Any:
    notebook["metadata"]["mha"]["language"] = "fr"
    for cell in notebook["cells"]:
        text = source(cell)
        cell["metadata"][ENGLISH_SOURCE] = hash_of(cell)
        if cell["cell_type"] == "markdown":
            text = text.replace("<summary>Why<", "<summary>Pourquoi<").replace("*Guess", "*Devinez")
            text = re.sub("^(#+ )(?!Optional)(.+)$", r"\1⟦\2⟧", text, flags=re.MULTILINE)
        elif cell["id"] == IMPORTS:
            text = text.replace('"en")', '"fr")')
        cell["source"] = text
    return notebook
