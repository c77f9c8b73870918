"""Every handout from its file, walked in each engine, in the dark, on a phone and on paper.

Chromium walks it without what came after 2022.
"""

import pytest

from mha_lib.classroom.lesson import make_traditional
from tests.browser.handouts import as_of_2022, handout_of
from tests.browser.pages import expect_accessible
from tests.browser.tabs import ENGINES, tab_in
from tests.lessons import ENGLISH, MADE, TRANSLATED, copy_course, name_of

LESSONS = [*ENGLISH, *TRANSLATED, *MADE]
PAPER = {"light": "rgb(253, 252, 249)", "dark": "rgb(21, 23, 27)"}
ALIVE = "() => document.querySelectorAll('.widget:not(.alive)').length === 0"
TOO_WIDE = """() => innerWidth < document.documentElement.scrollWidth &&
  [...document.querySelectorAll("main *")].filter((one) => one.getBoundingClientRect().right > innerWidth + 1)
    .map((one) => one.outerHTML.slice(0, 99)).slice(0, 3)"""


def cases():
    """Each engine with each handout. In CI each lesson in one language and engine, lesson 07 in each."""
    for number, lesson in enumerate(LESSONS):
        place, language = number % len(ENGLISH), number // len(ENGLISH)
        for at, engine in enumerate(ENGINES):
            theme = ("light", "dark")[(place + at) % 2]
            is_sample = language == place % 3 and (lesson.stem.startswith("07") or at == place % 3)
            mark = pytest.mark.ci if is_sample else pytest.mark.whole
            yield pytest.param(engine, theme, lesson, marks=mark, id=f"{name_of(lesson)}-{engine}-{theme}")


@pytest.fixture(scope="session")
def course(tmp_path_factory, share_trainings):
    """A copy of the course, with what its lessons have trained."""
    folder = copy_course(tmp_path_factory.mktemp("walked"))
    share_trainings(folder)
    make_traditional(folder)
    return folder


@pytest.mark.parametrize(("engine", "theme", "lesson"), list(cases()))
def test_a_handout_is_walked(engine, theme, lesson, browser, tmp_path, course, pytestconfig):
    html = handout_of(pytestconfig.cache.mkdir("handouts"), course / lesson.relative_to(lesson.parents[2]))
    file = tmp_path / "handout.html"
    file.write_text(as_of_2022(html) if engine == "chromium" else html, encoding="utf-8")
    with tab_in(engine, browser, tmp_path / engine, theme) as tab:
        tab.resize(1200, 900)
        tab.goto(file.as_uri())
        tab.until(ALIVE)
        assert tab.answer_of("() => getComputedStyle(document.body).backgroundColor") == PAPER[theme]
        tab.answer_of("() => guess()")
        tab.answer_of("() => void begin()")
        assert tab.until("() => window.walked && JSON.stringify(walked)") == "[]"
        if (pdf := tab.pdf()) is not None:
            assert pdf.startswith(b"%PDF")
            assert len(pdf) > 200_000, "pictures and all"
        if engine == "chromium":
            expect_accessible(tab.page)
        for width in (640, 390, 320):  # of a page at 200 % and 400 %, and of a phone
            tab.resize(width, 844)
            is_narrow = "(width) => innerWidth <= Math.max(width, 500)"  # Firefox has no narrower window
            tab.until(is_narrow, width)
            assert not tab.answer_of(TOO_WIDE)
