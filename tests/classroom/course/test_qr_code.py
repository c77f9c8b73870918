import json

import pytest

from mha_lib.classroom.course import CourseError
from mha_lib.classroom.course.qr_code import write_qr_code


def course(folder, content):
    (folder / "course.json").write_text(content)
    return folder


def test_the_address_of_the_handouts_is_drawn_as_a_qr_code_on_white(tmp_path):
    write_qr_code(course(tmp_path, json.dumps({"handouts": "https://example.org/attention"})), tmp_path)
    drawing = (tmp_path / "handouts.svg").read_text()
    assert drawing.startswith("<?xml")
    assert 'fill="#fff"' in drawing, "a code on a dark slide is not read"


@pytest.mark.parametrize("content", [None, "{}", '{"handouts": ""}'])
def test_where_no_address_is_named_nothing_is_drawn_and_nothing_old_is_left(tmp_path, content):
    (tmp_path / "handouts.svg").write_text("old")
    if content is not None:
        course(tmp_path, content)
    write_qr_code(tmp_path, tmp_path)
    assert not (tmp_path / "handouts.svg").exists()


@pytest.mark.parametrize("content", ["no json", "[]"])
def test_a_course_json_that_cannot_be_read_is_one_line(tmp_path, content):
    with pytest.raises(CourseError, match=r"^\S+course\.json can't be read: [^\n]+$"):
        write_qr_code(course(tmp_path, content), tmp_path)
