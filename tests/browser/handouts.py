"""The handouts of the real lessons for the tests: each lesson runs once, until its sources change."""

import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from mha_lib.classroom.lesson import language_in
from mha_lib.classroom.pages.build import Build
from mha_lib.classroom.pages.handout.build import address_of_run, page_of, run_lessons
from mha_lib.classroom.pages.handout.notebook import read_notebook
from mha_lib.classroom.pages.sources import is_current

WALK = Path(__file__).with_name("handout_walk.js").read_text(encoding="utf-8")
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


def handout_of(kept: Path, lesson: Path) -> str:
    """The handout of a lesson, with the script of the walk in it."""
    run = run_once(kept, lesson)
    notebook = read_notebook(run, run)
    build = Build(kept, language_in(lesson))
    names = {file.stem for file in lesson.parent.glob("*.ipynb")}
    return with_walk(page_of(lesson, notebook, names, build).render())


def with_walk(html: str) -> str:
    return html.replace("<head>", f"<head><script>(() => {{\n{WALK}}})();</script>", 1)
