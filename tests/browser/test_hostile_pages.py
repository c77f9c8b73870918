"""No page that the course makes of hostile files runs anything of theirs, nor does making it."""

from concurrent.futures import ThreadPoolExecutor

import nbformat
import pytest

from mha_lib.classroom.lesson import CourseError
from mha_lib.classroom.pages.handout import HandoutExporter, write_handouts
from mha_lib.classroom.pages.site import whole_site
from mha_lib.classroom.students import write_overview
from tests import hostile


@pytest.fixture
def traps(tmp_path):
    with hostile.set_traps(tmp_path / "marks") as traps:
        yield traps


def lay_as_lessons(place, traps):
    """The hostile files as lessons whose cells are empty, for the commands run code; stored outputs stay."""
    place.parent.mkdir(parents=True)
    hostile.lay(place, traps)
    for file in sorted(place.glob("*.ipynb")):
        notebook = nbformat.read(file, 4)
        for cell in notebook.cells:
            cell.source = cell.source if cell.cell_type == "markdown" else ""
        nbformat.write(notebook, file)
    return sorted(place.glob("*.ipynb"))


@pytest.mark.ci
def test_handouts_overview_and_site_of_hostile_files_run_nothing(page, traps, tmp_path, monkeypatch):
    lessons = lay_as_lessons(tmp_path / "notebooks" / "en", traps)
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tmp_path))  # where no signatures are
    monkeypatch.setattr(whole_site, "can_print", lambda _: False)  # slides are the deck of a server
    with ThreadPoolExecutor(1) as own_loop:  # Playwright has the loop of this thread
        assert own_loop.submit(write_handouts, tmp_path, lessons).result() == 0
        assert own_loop.submit(whole_site.write_site, tmp_path, [lessons], "en").result() == 0
    with pytest.raises(CourseError, match="holds no reports"):
        write_overview(tmp_path, lessons[0].parent, lessons, with_names=True)
    for lesson in lessons:
        text, _ = HandoutExporter().from_filename(str(lesson))
        lesson.with_suffix(".html").write_text(text, encoding="utf-8")
    made = [*tmp_path.glob("build/**/*.html"), *lessons[0].parent.glob("*.html")]
    assert len(made) > 3 * len(lessons)
    for file in made:
        page.goto(file.as_uri())
        page.context.request.get(traps.address("last"))
        assert traps.sprung() == set(), file
