"""What every lesson must be before it is run: section by section, cell by cell."""

import re
from pathlib import Path

import nbformat
import pytest

from mha_lib.classroom.lessons.slides import (
    MINUTES,
    STARTS,
    core_minutes,
    read_lesson,
    read_slides,
    slide_type,
    source,
    tags,
)

ROOT = Path(__file__).parents[2]
LESSONS = sorted((ROOT / "notebooks").glob("*/*.ipynb"))
each_lesson = pytest.mark.parametrize("lesson", LESSONS, ids=lambda path: f"{path.parent.name}/{path.stem}")


def cells_of(lesson):
    return read_lesson(lesson)["cells"]


@each_lesson
def test_is_valid_and_clean(lesson):
    notebook = nbformat.read(lesson, as_version=4)
    nbformat.validate(notebook)
    for cell in cells_of(lesson):
        assert not cell.get("outputs"), f"{cell['id']} has outputs: commit without them"
        assert not cell.get("execution_count"), f"{cell['id']} has been run: commit without counts"
    assert set(notebook.metadata) <= {"kernelspec", "language_info", "title", "rise"}
    assert notebook.metadata.kernelspec.name == "python3"
    assert notebook.metadata.title


@each_lesson
def test_every_cell_has_a_readable_name_and_a_slide_type(lesson):
    names = [cell["id"] for cell in cells_of(lesson)]
    assert len(names) == len(set(names))
    for cell in cells_of(lesson):
        assert re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", cell["id"]), cell["id"]
        assert not re.fullmatch(r"[0-9a-f]{8}(-[0-9a-f-]+)?", cell["id"]), f"{cell['id']} is a machine's name"
        assert slide_type(cell) in (*STARTS, "fragment", "skip", "notes", "-"), cell["id"]


@each_lesson
def test_every_slide_is_followed_by_notes_that_begin_with_minutes(lesson):
    slides = read_slides(cells_of(lesson))
    for slide, following in zip(slides, [*slides[1:], None], strict=True):
        has_more_below = following is not None and following.starts == "subslide"
        assert slide.notes or has_more_below, f"{slide.title} has no notes"
        for text in slide.notes:
            assert MINUTES.match(text), f"notes of {slide.title} begin without minutes: {text[:30]}"


@each_lesson
def test_minutes_of_the_core_path_make_a_lesson(lesson):
    core = core_minutes(read_slides(cells_of(lesson)))
    assert 40 <= core <= 50, f"{core} minutes"


@each_lesson
def test_slides_are_short(lesson):
    for slide in read_slides(cells_of(lesson)):
        prose = " ".join(source(cell) for cell in slide.cells if cell["cell_type"] == "markdown")
        unseen = r"<details>.*?</details>|!\[.*?\]\([^)]*\)"  # an answer is folded, an alt text is read aloud
        other = r"^#+ .*?$|```.*?```|`[^`]*`|\$\$.*?\$\$|\$[^$]*\$|\[|\]\([^)]*\)|<[^>]*>|^\|.*$"
        prose = re.sub(f"{unseen}|{other}", " ", prose, flags=re.S | re.M)
        words = re.findall(r"[^\W\d_][\w’'-]*", prose)
        assert len(words) <= 40, f"{slide.title} has {len(words)} words"
        for cell in slide.cells:
            lines = [line for line in source(cell).splitlines() if line.strip()]
            assert cell["cell_type"] != "code" or len(lines) <= 15, f"{cell['id']} has {len(lines)} lines"


@each_lesson
def test_images_exist_and_have_alt_text(lesson):
    for cell in cells_of(lesson):
        for alt, target in re.findall(r"!\[(.*?)\]\((.*?)\)", source(cell)):
            assert len(alt) > 20, f"{cell['id']}: the alt text of {target} says too little"
            assert (lesson.parent / target).resolve().exists(), f"{cell['id']}: no file {target}"
        assert "<img" not in source(cell), f"{cell['id']}: write images as ![alt text](path)"


@each_lesson
def test_every_exercise_has_a_stub_a_check_and_a_hidden_solution_of_another_name(lesson):
    code = [cell for cell in cells_of(lesson) if cell["cell_type"] == "code"]
    exercises = [place for place, cell in enumerate(code) if "exercise" in tags(cell)]
    assert exercises
    for place in exercises:
        stub, check, solution = code[place : place + 3]
        assert "..." in source(stub)
        name = re.findall(r"^(?:def|class) (\w+)", source(stub), re.M)[0]
        assert re.fullmatch(rf"check\.\w+\({name}\)", source(check)), source(check)
        assert "solution" in tags(solution)
        assert solution["metadata"]["jupyter"]["source_hidden"]
        solved = re.findall(r"^(?:def|class) (\w+)", source(solution), re.M)
        assert name not in solved, f"{solution['id']} would overwrite the student's {name}"
        assert source(check).split("(")[0] in source(solution), f"{solution['id']} does not check itself"
