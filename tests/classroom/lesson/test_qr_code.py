from mha_lib.classroom.lesson.qr_code import write_qr_code


def test_the_address_of_the_handouts_is_drawn_as_a_qr_code_on_white_as_long_as_it_is_named(tmp_path):
    (tmp_path / "course.json").write_text('{"handouts": "https://example.org/attention"}')
    write_qr_code(tmp_path, tmp_path)
    drawing = (tmp_path / "handouts.svg").read_text()
    assert drawing.startswith("<?xml")
    assert 'fill="#fff"' in drawing, "a code on a dark slide is not read"
    (tmp_path / "course.json").unlink()
    write_qr_code(tmp_path, tmp_path)
    assert not (tmp_path / "handouts.svg").exists()
