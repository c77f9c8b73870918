from mha_lib.classroom.lesson.qr_code import write_qr_code

ADDRESS = '{"handouts": "https://example.org/attention"}'


def test_the_address_of_the_handouts_is_drawn_as_a_qr_code_on_white(tmp_path):
    (tmp_path / "course.json").write_text(ADDRESS)
    write_qr_code(tmp_path, tmp_path)
    drawing = (tmp_path / "handouts.svg").read_text()
    assert drawing.startswith("<?xml")
    assert 'fill="#fff"' in drawing, "a code on a dark slide is not read"


def test_where_no_address_is_named_nothing_is_drawn_and_nothing_old_is_left(tmp_path):
    (tmp_path / "handouts.svg").write_text("old")
    write_qr_code(tmp_path, tmp_path)
    assert not (tmp_path / "handouts.svg").exists()
