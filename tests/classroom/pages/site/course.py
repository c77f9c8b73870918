"""A small course in three languages, as if its lessons had run and its slides been written just now."""

import shutil
from copy import deepcopy
from pathlib import Path

import nbformat
import numpy as np
from ipywidgets.embed import embed_data
from nbformat.v4 import new_notebook

from mha_lib.classroom import explore
from mha_lib.classroom.lesson import prepare_lessons
from mha_lib.classroom.lesson.files import write_whole
from mha_lib.classroom.lesson.working_copy import changed, clear_outputs
from mha_lib.classroom.pages.handout.handouts import address_of_run
from mha_lib.classroom.pages.slides.pdf_decks import address_of_slides
from mha_lib.classroom.pages.sources import sources_of, write_made
from tests.classroom.pages.handout.cells import code, text
from tests.offline_notebook.pages import STATE, VIEW, shown

ROOT = Path(__file__).parents[4]
LANGUAGES = ("en", "zh", "zh-Hant")
TEXTS = {
    "en": (
        "Single-head attention",
        "Several heads",
        "Why a mask?",
        "A **mask** keeps **attention** off the **padding** $x$.",
    ),
    "zh": ("单头注意力", "多个头", "为什么要掩码？", "**掩码**让**注意力**避开**填充** $x$。"),
}
FIGURE = "![A mask](../../img/masks.svg)"


def weights_of(num_heads=2):
    return np.full((num_heads, 3, 5), 0.2, "f4")


def write_lesson(path, explorer, title, heading, sentence):
    """The lesson, without outputs, and a copy that has run."""
    state = embed_data([explorer], drop_defaults=False)["manager_state"]["state"]
    shows = code("masked_softmax(1)", shown({VIEW: {"model_id": explorer.model_id}}), id="explorer")
    cells = [
        text(f"# {title}", "slide", id="title"),
        text("5 min. Say hello.", "notes", id="title-notes"),
        text(f"## {heading}\n\n{sentence}\n\n{FIGURE}", "slide", id="why-a-mask"),
        text("Optional, 3 min. Ask.", "notes", id="why-notes"),
        shows,
        code("answer = 42", tags=["solution"], id="solution"),
    ]
    ran = new_notebook(
        cells=cells,
        metadata={
            "title": title,
            "mha": {"lesson": path.stem, "language": path.parent.name},
            "summary": f"{title}?",
            "guess": f"{sentence} *{heading}*",
            "widgets": {STATE: {"state": state}},
        },
    )
    write_whole(path, changed(nbformat.writes(ran).encode(), clear_outputs))
    return ran


def keep(root, lesson, ran):
    """As if the lesson had run and its slides had been printed."""
    for file, content in (
        (address_of_run(root, lesson), nbformat.writes(ran).encode()),
        (address_of_slides(root, lesson), b"%PDF"),
    ):
        write_made(file, content, sources_of(lesson))


def small_course(root: Path) -> list[list[Path]]:
    """Two lessons in each language, everything in build/ as new as can be; the lessons, by language."""
    (root / "img" / "words").mkdir(parents=True)
    for name in ("masks.svg", "words/zh.json"):
        shutil.copy(ROOT / "img" / name, root / "img" / name)
    ran = {}
    for language, (title, second, heading, sentence) in TEXTS.items():
        for stem, explorer, named in (
            ("01_single", explore(weights_of, num_heads=[1, 2]), title),
            ("03_multi", explore(weights_of, num_heads=[1, 2, 4, 8]), second),
        ):
            lesson = root / "notebooks" / language / f"{stem}.ipynb"
            ran[language, stem] = write_lesson(lesson, explorer, named, heading, sentence)
    by_language = [prepare_lessons(root, language) for language in LANGUAGES]
    for lesson in (lesson for lessons in by_language for lesson in lessons):
        notebook = ran[lesson.parent.name.split("-")[0], lesson.stem]
        if lesson.parent.name == "zh-Hant":  # its own words, and the outputs of the simplified lesson
            notebook, made = deepcopy(notebook), nbformat.read(lesson, as_version=4)
            for one, own in zip(notebook.cells, made.cells, strict=True):
                one.source = own.source
            notebook.metadata |= made.metadata
        keep(root, lesson, notebook)
    return by_language
