"""The form of every lesson, in every language, before it runs: slide by slide, cell by cell."""

import ast
import json
import re
from functools import cache
from unicodedata import east_asian_width

import nbformat
import pytest

from mha_lib.classroom.exercises import names_by_lesson
from mha_lib.classroom.lesson.grammar import has_role, tags
from mha_lib.classroom.lesson.slides import (
    MINUTES,
    STARTS,
    core_minutes,
    read_lesson,
    read_slides,
    read_stacks,
    slide_type,
    source,
)
from mha_lib.classroom.lesson.translations import out_of_step
from mha_lib.classroom.lesson.working_copy import FOLDED, for_students
from mha_lib.classroom.pages.handout.notebook import lines_of_asserts
from tests.lessons import ENGLISH, ROOT, TRANSLATED, english_of, name_of

each_lesson = pytest.mark.parametrize("lesson", ENGLISH + TRANSLATED, ids=name_of)
each_translation = pytest.mark.parametrize("lesson", TRANSLATED, ids=name_of)


def cells_of(lesson):
    return read_lesson(lesson)["cells"]


@each_lesson
def test_is_valid_and_clean(lesson):
    notebook = nbformat.read(lesson, as_version=4)
    nbformat.validate(notebook)
    for cell in cells_of(lesson):
        assert not cell.get("outputs"), f"{cell['id']} has outputs: commit without them"
        assert not cell.get("execution_count"), f"{cell['id']} has been run: commit without counts"
    allowed = {"kernelspec", "language_info", "title", "summary", "rise", "former_names", "mha"}
    assert set(notebook.metadata) <= allowed
    assert notebook.metadata.kernelspec.name == "python3"
    assert notebook.metadata.title


@each_lesson
def test_its_summary_is_the_question_that_the_readme_asks(lesson):
    summary = read_lesson(lesson)["metadata"]["summary"]
    readme = ROOT / ("README.md" if lesson in ENGLISH else f"README.{lesson.parent.name}.md")
    if readme.exists():  # a language may have lessons before it has a README
        assert f"/{lesson.name}) | {summary} |\n" in readme.read_text(encoding="utf-8")
    assert summary


@each_translation
def test_a_translation_is_in_step_with_the_english_lesson(lesson):
    assert list(out_of_step(read_lesson(english_of(lesson)), read_lesson(lesson))) == []


@each_lesson
def test_every_cell_has_a_readable_name_and_a_slide_type(lesson):
    names = [cell["id"] for cell in cells_of(lesson)]
    assert len(names) == len(set(names))
    for cell in cells_of(lesson):
        assert re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", cell["id"]), cell["id"]
        assert not re.fullmatch(r"[0-9a-f]{8}(-[0-9a-f-]+)?", cell["id"]), f"{cell['id']} is a machine's name"
        assert slide_type(cell) in (*STARTS, "fragment", "skip", "notes", "-"), cell["id"]


@each_lesson
def test_its_imports_end_with_the_call_that_begins_the_lesson(lesson):
    (imports,) = [cell for cell in cells_of(lesson) if cell["id"] == "imports"]
    assert source(imports).endswith("\n\nbegin_lesson()")
    assert "setup" in tags(imports)


@each_lesson
def test_every_slide_is_followed_by_notes_that_begin_with_minutes(lesson):
    slides = read_slides(cells_of(lesson))
    for slide, following in zip(slides, [*slides[1:], None], strict=True):
        has_more_below = following is not None and following.starts == "subslide"
        assert slide.notes or has_more_below, f"{slide.title} has no notes"
        for text in slide.notes:
            assert MINUTES.match(text), f"notes of {slide.title} begin without minutes: {text[:30]}"


@each_lesson
def test_highlighted_lines_are_there(lesson):
    lit = [cell for cell in cells_of(lesson) if "highlight" in cell["metadata"]]
    assert lit
    for cell in lit:
        highlight, count = cell["metadata"]["highlight"], len(source(cell).split("\n"))
        assert re.fullmatch(r"\d+(-\d+)?([,|]\d+(-\d+)?)*", highlight), cell["id"]
        assert all(1 <= int(line) <= count for line in re.findall(r"\d+", highlight)), cell["id"]
    on_slides = {cell["id"] for slide in read_slides(cells_of(lesson)) for cell in slide.cells}
    assert {cell["id"] for cell in lit} <= on_slides


@each_lesson
def test_the_choices_of_a_guess_are_few_and_short(lesson):
    """The deck draws a bar for each; a Chinese letter is as wide as two others."""
    asking = [cell for cell in cells_of(lesson) if "choices" in cell["metadata"]]
    assert len(asking) >= 4
    for cell in asking:
        choices = cell["metadata"]["choices"]
        assert has_role(cell, "guess"), cell["id"]
        assert 2 <= len(choices) == len(set(choices)) <= 5, cell["id"]
        for choice in choices:
            width = sum(2 if east_asian_width(letter) in "WF" else 1 for letter in choice)
            assert 0 < width <= 22, f"{cell['id']}: {choice}"


@each_lesson
def test_the_core_path_runs_along_the_top(lesson):
    """→ passes the slides below, so these must be optional: in their notes, and so in the deck's foot."""
    for slide in read_slides(cells_of(lesson)):
        assert slide.starts == "slide" or slide.is_optional, f"{slide.title} is core, but → goes past it"
        assert slide.is_optional or not slide.title.startswith("Optional"), f"{slide.title} counts as core"


@each_lesson
def test_minutes_of_the_core_path_make_a_lesson(lesson):
    core = core_minutes(read_slides(cells_of(lesson)))
    assert 38 <= core <= 40, f"{core} minutes"  # so that 45 leave time for questions


# A lecturer says so much in a minute. Each slide takes minutes besides, and so does a class that thinks.
WORDS, CHINESE = 130, 220
SLIDE, THINKING, SLACK = 0.25, 0.5, 0.25


def minutes_to_say(slide):
    shown = [
        source(cell) for cell in slide.cells if cell["cell_type"] == "markdown" and not has_role(cell, "why")
    ]
    unsaid = r"!\[[^]]*\]\(\S+\)|<details>.*?</details>|" + MINUTES.pattern
    said = re.sub(unsaid, " ", "\n".join([*shown, *slide.notes]), flags=re.DOTALL)
    han = re.findall(r"[\u4e00-\u9fff]", said)
    thinks = any(has_role(cell, "guess", "exercise") for cell in slide.cells)
    return (len(han) / CHINESE if han else len(said.split()) / WORDS) + SLIDE + THINKING * thinks


@each_lesson
def test_a_slide_is_said_in_its_minutes(lesson):
    slides = [slide for slide in read_slides(cells_of(lesson)) if not slide.is_optional]
    late = {slide.title: minutes_to_say(slide) for slide in slides}
    assert {
        slide.title: late[slide.title] for slide in slides if late[slide.title] > slide.minutes + SLACK
    } == {}


@each_lesson
def test_what_a_students_copy_folds_hides_optional_parts_alone(lesson):
    """JupyterLab hides all cells up to the next heading of the same level or a higher one."""
    slides = read_slides(cells_of(lesson))
    optional = {cell["id"] for slide in slides if slide.is_optional for cell in slide.cells}
    hidden_below, level = None, 0
    folded = []
    for cell in json.loads(for_students(lesson.read_bytes(), solutions=True))["cells"]:
        heading = re.search(r"^(#+) ", source(cell), re.M) if cell["cell_type"] == "markdown" else None
        if heading and len(heading[1]) <= level:
            hidden_below, level = None, 0
        if hidden_below:
            assert slide_type(cell) == "skip" or cell["id"] in optional, f"{hidden_below} hides {cell['id']}"
            assert not {"exercise", "shows-check"} & set(tags(cell)), f"{hidden_below} hides {cell['id']}"
        if cell["metadata"].get(FOLDED):
            assert heading, f"{cell['id']} is folded, and no heading opens it"
            hidden_below, level = cell["id"], len(heading[1])
            folded.append(cell["id"])
    assert folded
    stacks = read_stacks(cells_of(lesson))
    small = [place for place, stack in enumerate(stacks) if any(is_small(c) for s in stack for c in s.cells)]
    on_the_way = [s for stack in stacks[: max(small, default=-1) + 1] for s in stack if s.is_optional]
    assert {slide.cells[0]["id"] for slide in on_the_way} <= {*folded}, "no optional slide below an exercise"


NAMED = re.compile(r"# (?P<word>\w+)(: |：)\S.*")  # the first line of a helper, and of a test


def is_hidden(cell):
    return bool(cell["metadata"].get("jupyter", {}).get("source_hidden"))


def is_helper(cell):
    return cell["cell_type"] == "code" and slide_type(cell) == "skip" and "solution" not in tags(cell)


WHY = re.compile(r"<details><summary>(?P<word>[^<>]+)</summary>\n\n(?P<text>.+)\n\n</details>\s*", re.DOTALL)
# What begins with a word: its form, and the cells that have it.
BEGINS = {
    "Helper": (NAMED, lambda cell: cell["id"] == "imports"),
    "Test": (NAMED, lambda cell: is_hidden(cell) and not is_helper(cell) and "solution" not in tags(cell)),
    "Why": (WHY, lambda cell: "why" in tags(cell)),
}


@cache
def word_for(english, folder):
    """A language's word for "Helper", say: the first such cell of its first lesson begins with it."""
    form, is_meant = BEGINS[english]
    lesson = min(folder.glob("*.ipynb"))
    found = form.match(source(next(filter(is_meant, cells_of(lesson)))))
    assert found, f"the first {english} of {lesson.name} has another form"
    return found["word"]


@pytest.mark.parametrize("english", BEGINS)
def test_the_words_with_which_cells_begin_are_the_english_ones_in_english_alone(english):
    assert word_for(english, ENGLISH[0].parent) == english
    assert english not in {word_for(english, lesson.parent) for lesson in TRANSLATED}


@each_lesson
def test_helpers_and_tests_are_folded_under_a_line_that_names_them_and_nothing_else_is_but_solutions(lesson):
    """lesson/slides.py says what both are."""
    for cell in cells_of(lesson):
        line = source(cell).split("\n")[0]
        word = word_for("Helper" if is_helper(cell) else "Test", lesson.parent)
        named = NAMED.fullmatch(line) if cell["cell_type"] == "code" else None
        is_named = named is not None and named["word"] == word
        if "solution" not in tags(cell):
            assert is_hidden(cell) == is_named, f"{cell['id']}: folded, or named as such, but not both"
        assert not is_named or len(line) <= 80, f"{cell['id']}: its first line has {len(line)} letters"
        assert not is_named or not {"exercise", "shows-check"} & set(tags(cell)), cell["id"]


@each_lesson
def test_no_assert_answers_a_guess_before_it_has_run(lesson):
    for slide in read_slides(cells_of(lesson)):
        asks = any("guess" in tags(cell) for cell in slide.cells)
        for cell in slide.cells if asks else []:
            if cell["cell_type"] == "code" and lines_of_asserts(source(cell)):
                assert is_hidden(cell), f"{cell['id']} shows its assert: fold a cell with asserts alone"


@each_lesson
def test_a_slide_has_four_cells_at_most(lesson):
    """Notes and helpers don't count: students have no notes, and helpers are folded."""
    slides: list[list[str]] = []
    for cell in cells_of(lesson):
        if slide_type(cell) in STARTS:
            slides.append([])
        if slide_type(cell) != "notes" and not is_hidden(cell):
            slides[-1].append(cell["id"])
    assert [slide for slide in slides if len(slide) > 4] == []


GUESS = re.compile(r"\*[Gg]uess")  # in an English cell


@pytest.mark.parametrize("lesson", ENGLISH, ids=name_of)
def test_a_slide_that_asks_for_a_guess_marks_the_end_of_its_question(lesson):
    for slide in read_slides(cells_of(lesson)):
        asks = any(GUESS.search(source(cell)) for cell in slide.cells if cell["cell_type"] == "markdown")
        marks = [cell["id"] for cell in slide.cells if "guess" in tags(cell)]
        assert len(marks) == asks, f"{slide.title}: the tag guess stands on {marks or 'no cell'}"


def explained(cells):
    """Each slide's first cell, whether the slide asks for a guess, and its why cells."""
    slides: list[tuple] = []
    for cell in cells:
        if slide_type(cell) in STARTS:
            slides.append((cell, [], []))
        if slides and "why" in tags(cell):
            slides[-1][2].append(cell)
        elif slides and "guess" in tags(cell):
            slides[-1][1].append(cell)
    return [(first["id"], bool(asking), whys) for first, asking, whys in slides]


@each_lesson
def test_every_guess_is_answered_in_words(lesson):
    slides = explained(cells_of(lesson))
    for (slide, asks, whys), (_, _, next_whys) in zip(slides, [*slides[1:], ("", False, [])], strict=True):
        assert not asks or whys or next_whys, f"{slide} asks for a guess that no why cell answers"
        assert len(whys) <= 1, f"{slide} has {len(whys)} why cells"


@each_lesson
def test_a_why_is_two_to_five_sentences_that_no_slide_shows(lesson):
    whys = [cell for cell in cells_of(lesson) if "why" in tags(cell)]
    assert whys
    for cell in whys:
        assert slide_type(cell) == "skip", cell["id"]
        found = WHY.fullmatch(source(cell))
        assert found, f"{cell['id']} is not folded as the others are"
        assert found["word"] == word_for("Why", lesson.parent), (
            f"{cell['id']} is not headed as the others are"
        )
        text = re.sub(r"\$[^$]*\$|`[^`]*`", "x", found["text"])
        text = re.sub(r"\b(et al|e\.g|i\.e|vs|approx)\.", "x", text)
        sentences = re.findall(
            r"[.!?][)”’\"*]*(?=\s|$)|[。！？](?![”）])|[。！？][”）](?=$|\s|[^，。；：、])", text
        )
        assert 2 <= len(sentences) <= 5, f"{cell['id']} has {len(sentences)} sentences"


@each_lesson
def test_slides_are_short(lesson):
    for slide in read_slides(cells_of(lesson)):
        prose = " ".join(source(cell) for cell in slide.cells if cell["cell_type"] == "markdown")
        unseen = r"<details>.*?</details>|!\[.*?\]\([^)]*\)"  # neither is on the slide
        other = r"^#+ .*?$|```.*?```|`[^`]*`|\$\$.*?\$\$|\$[^$]*\$|\[|\]\([^)]*\)|<[^>]*>|^\|.*$|（[ -~]+）"
        prose = re.sub(f"{unseen}|{other}", " ", prose, flags=re.S | re.M)
        words = re.findall(r"(?![㐀-鿿])[^\W\d_](?:(?![㐀-鿿])[\w’'-])*", prose)
        count = len(words) + len(re.findall("[㐀-鿿]", prose)) / 1.6  # a word takes 1.6 Chinese characters
        assert count <= 40, f"{slide.title} has {count} words"
        for cell in slide.cells:
            lines = [line for line in source(cell).splitlines() if line.strip()]
            assert cell["cell_type"] != "code" or len(lines) <= 15, f"{cell['id']} has {len(lines)} lines"


@each_lesson
def test_images_exist_and_have_alt_text(lesson):
    for cell in cells_of(lesson):
        for alt, target in re.findall(r"!\[(.*?)\]\((.*?)\)", source(cell)):
            assert len(alt) > (8 if re.search("[㐀-鿿]", alt) else 20), (
                f"{cell['id']}: the alt text of {target} says too little"
            )
            assert (lesson.parent / target).resolve().exists(), f"{cell['id']}: no file {target}"
        assert "<img" not in source(cell), f"{cell['id']}: write images as ![alt text](path)"


def is_small(cell):
    """Whether a cell holds the place for an answer, and checks it: a small exercise."""
    return {"exercise", "shows-check"} <= set(tags(cell))


@each_lesson
def test_a_small_exercise_asks_for_one_value_in_a_cell_of_its_own_slide(lesson):
    for slide in read_slides(cells_of(lesson)):
        for cell in filter(is_small, slide.cells):
            name = cell["metadata"]["checks"]
            *_, answer, check = source(cell).split("\n")
            assert re.fullmatch(r"(\w+) = \.\.\.  # .+", answer), cell["id"]
            assert check == f"check.{name}({answer.split()[0]})"
            assert len(slide.cells) == 2, f"{slide.title} holds more than a question and a small exercise"


@each_lesson
def test_each_objective_has_its_exercises_and_the_end_of_the_lesson_says_which_are_reached(lesson):
    (reached,) = [cell for cell in cells_of(lesson) if cell["id"] == "reached"]
    objectives = ast.literal_eval(source(reached).removeprefix("check.reached(").removesuffix(")").strip())
    (listed,) = [source(cell) for cell in cells_of(lesson) if cell["id"] == "objectives"]
    assert list(objectives) == re.findall(r"^- (.+)$", listed.replace(r"$\sqrt{d}$", "√d"), re.M)
    exercises = [name for names in objectives.values() for name in names.split()]
    assert sorted(exercises) == sorted(names_by_lesson()[lesson.stem])


@each_lesson
def test_every_exercise_has_a_stub_a_check_and_a_hidden_solution_of_another_name(lesson):
    code = [cell for cell in cells_of(lesson) if cell["cell_type"] == "code"]
    exercises = [place for place, cell in enumerate(code) if "exercise" in tags(cell) and not is_small(cell)]
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


@each_lesson
def test_its_cells_check_every_exercise_of_the_lesson(lesson):
    """JupyterLab counts the exercises of a notebook by these cells: jupyter/seat/progress.js."""
    cells = [source(cell) for cell in cells_of(lesson) if "shows-check" in tags(cell)]
    checked = [name for code in cells for name in re.findall(r"\bcheck\.(?!report\b|reached\b)(\w+)\(", code)]
    assert checked == names_by_lesson()[lesson.stem]
