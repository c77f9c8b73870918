"""The address of the repository is written everywhere at once, and the links of a lesson come from it."""

import json

import pytest

from mha_lib.classroom.lesson import CourseError, make_traditional, make_working_copy
from mha_lib.classroom.lesson.hosted import archive_of, links_to, write_repository
from mha_lib.classroom.lesson.slides import read_lesson
from mha_lib.classroom.lesson.translations import out_of_step
from tests.lessons import WRITTEN_LANGUAGES, copy_course

ADDRESS = "https://github.com/school/attention"
NAME = "03_multi_head_attention.ipynb"


@pytest.fixture
def course(tmp_path):
    """A copy of one lesson of the course, in no repository."""
    write_repository(copy_course(tmp_path, NAME), "")
    return tmp_path


def contents(course):
    return {file: file.read_bytes() for file in course.glob("notebooks/*/*") if file.is_file()}


def test_an_address_leads_to_the_archive_of_its_branch():
    github, gitee = "https://github.com/a-b/c.d_e", "https://gitee.com/a-b/c"
    assert archive_of(f"{ADDRESS}.git") == f"{ADDRESS}/archive/main.zip"
    assert archive_of(f"{github}/tree/v1.0/") == f"{github}/archive/v1.0.zip"
    assert archive_of(f"{gitee}/tree/v1.0") == f"{gitee}/repository/archive/v1.0.zip"
    assert archive_of("") == ""


NO_ADDRESSES = ["https://gitlab.com/school/attention", f"{ADDRESS}/blob/main/README.md"]
NO_ADDRESSES.append(f'{ADDRESS}"; print("more')


@pytest.mark.parametrize("address", NO_ADDRESSES)
def test_what_is_no_address_of_a_repository_is_refused_with_the_way_out(address):
    with pytest.raises(CourseError, match=r"wanted: https://github\.com/OWNER/NAME"):
        archive_of(address)


def test_the_address_is_written_wherever_it_has_to_stand_and_taken_out_again(course):
    before = contents(course)
    holders = {file for file in before if file.name == "course.json" or file.suffix == ".ipynb"}
    assert set(write_repository(course, ADDRESS)) == holders
    for folder in (course / "notebooks" / language for language in WRITTEN_LANGUAGES):
        settings = json.loads((folder / "course.json").read_text())
        assert settings.pop("repository") == ADDRESS
        assert settings.items() <= json.loads(before[folder / "course.json"]).items()
        for lesson in folder.glob("*.ipynb"):
            assert f'archive = \\"{ADDRESS}/archive/main.zip\\"' in lesson.read_text()
            english = read_lesson(course / "notebooks" / "en" / lesson.name)
            assert folder.name == "en" or list(out_of_step(english, read_lesson(lesson))) == []
    assert write_repository(course, ADDRESS) == [], "it stands there"
    write_repository(course, "")
    assert contents(course) == before


def test_a_lesson_and_its_copy_open_in_colab_from_the_repository_and_in_binder_as_the_copy(course):
    write_repository(course, f"{ADDRESS}/tree/autumn")
    make_working_copy(course, "zh")
    for folder in ("notebooks", "work"):
        assert links_to(course / folder / "zh" / NAME) == {
            "colab": f"https://colab.research.google.com/github/school/attention/blob/autumn/notebooks/zh/{NAME}",
            "binder": f"https://mybinder.org/v2/gh/school/attention/autumn?urlpath=lab%2Ftree%2Fwork%2Fzh%2F{NAME}",
        }


def test_what_is_not_on_github_or_not_for_students_opens_in_binder_alone(course):
    """Traditional Chinese is made on each machine; the notebooks of the repository have the solutions."""
    lesson = course / "notebooks" / "zh" / NAME
    write_repository(course, "https://gitee.com/school/attention")
    address = "https://mybinder.org/v2/git/https%3A%2F%2Fgitee.com%2Fschool%2Fattention/main"
    assert links_to(lesson) == {"binder": f"{address}?urlpath=lab%2Ftree%2Fwork%2Fzh%2F{NAME}"}
    write_repository(course, ADDRESS)
    assert links_to(make_traditional(course) / NAME).keys() == {"binder"}
    (course / "notebooks" / "en" / "course.json").write_text('{"solutions": "none"}')
    (course / "notebooks" / "zh" / "course.json").write_text(f'{{"repository": "{ADDRESS}"}}')
    assert links_to(lesson).keys() == {"binder"}


def test_without_an_address_no_lesson_leads_anywhere_and_with_one_no_other_notebook_does(course):
    assert links_to(course / "notebooks" / "en" / NAME) == {}
    write_repository(course, ADDRESS)
    for place in ("notebooks/en/mine.ipynb", f"mine/{NAME}"):
        assert links_to(course / place) == {}, place
