"""The handouts of the real lessons for the tests: each lesson runs once, until its sources change."""

import json
import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import nbformat
from nbformat.v4 import new_code_cell

from mha_lib.classroom.lesson import language_in
from mha_lib.classroom.pages.build import Build
from mha_lib.classroom.pages.handout.build import address_of_run, page_of, run_lessons
from mha_lib.classroom.pages.handout.notebook import read_notebook
from mha_lib.classroom.pages.sources import is_current

WALK = Path(__file__).with_name("handout_walk.js").read_text(encoding="utf-8")
# A cell at the end of a lesson, which no handout shows, prints what Python answers to what a walk types.
MAPS = """import json
_given = {given}
_maps, _rows, _columns = (make(**_given) for make in (typed.maps, typed.rows, typed.columns))
_answers = {{"rows": _rows, "key": _columns[0], "weights": _maps[0][0, :, 0].tolist()}}
print(json.dumps(_answers | {{"typed": next(iter(_given.values()))}}))"""
# Takes away all that Safari 15.4, Chrome 99 or Firefox 100 lacks.
TAKES_AWAY = """
for (const kind of [Array, Object.getPrototypeOf(Uint8Array)])
  for (const name of ["findLast", "findLastIndex", "with", "toReversed", "toSorted", "toSpliced"])
    delete kind.prototype[name];
for (const name of Object.getOwnPropertyNames(Element.prototype))
  if (/^(aria[A-Z]|role$)/.test(name)) delete Element.prototype[name];
for (const name of ["scale", "rotate", "translate"])
  Object.defineProperty(CSSStyleDeclaration.prototype, name, { set() {} });
for (const name of ["DecompressionStream", "OffscreenCanvas", "structuredClone", "navigation"]) {
  Object.defineProperty(globalThis, name, { value: undefined, configurable: true });
  delete globalThis[name];
}"""
ASKED = {
    "04_layers": MAPS.format(given={"text": "BADGE BADG", "layer": 1}),
    "05_trained_heads": MAPS.format(given={"number": "90817", "attention": "cross", "silenced": "none"}),
    "07_small_language_model": """import json
_rounded = copy.deepcopy(model)  # as the page has it
_rounded.load_state_dict({name: x.half().float() for name, x in model.state_dict().items()})
_names = [tales.vocabulary[token] for token in write(_rounded, START, 72)]
print(json.dumps({"start": START, "names": _names}))""",
}


def ask_python(course: Path) -> None:
    """Add to the lessons of a copied course the cells that say what Python answers."""
    for lesson in (course / "notebooks").glob("*/*.ipynb"):
        if source := ASKED.get(lesson.stem):
            notebook = nbformat.read(lesson, as_version=4)
            metadata = {"tags": ["remove-cell"], "slideshow": {"slide_type": "skip"}}
            notebook.cells.append(new_code_cell(source, id="what-python-answers", metadata=metadata))
            nbformat.write(notebook, lesson)


def run_once(kept: Path, lesson: Path) -> Path:
    """The lesson as it ran for students; where it has not since its sources changed, it runs now."""
    run = address_of_run(kept, lesson)
    if not is_current(run, lesson):
        build = Build(kept, language_in(lesson))
        with ThreadPoolExecutor(1) as own_loop:  # Playwright has the loop of this thread
            own_loop.submit(run_lessons, kept, [lesson], build).result()
        assert not build.end()
    return run


def as_of_2022(html: str) -> str:
    """The page as browsers of 2022 read it: in place of what they lack, names that no browser knows."""
    html = re.sub(r"light-dark\(|color-mix\(", "unknown(", html).replace(":has(", ":unknown(")
    return html.replace("<head>", f"<head><script>{TAKES_AWAY}</script>", 1)


def handout_of(kept: Path, lesson: Path) -> tuple[str, dict[str, Any]]:
    """The handout of a lesson, with the script of the walk in it, and what Python answers."""
    run = run_once(kept, lesson)
    notebook = read_notebook(run, run)
    build = Build(kept, language_in(lesson))
    names = {file.stem for file in lesson.parent.glob("*.ipynb")}
    html = page_of(lesson, notebook, names, build).render()
    asked = [cell for cell in notebook.cells if cell.id == "what-python-answers"]
    answers = json.loads(asked[0].outputs[0].text) if asked else {}
    return html.replace("<head>", f"<head><script>(() => {{\n{WALK}}})();</script>", 1), answers
