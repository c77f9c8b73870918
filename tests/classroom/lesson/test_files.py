"""A file is written whole or not at all."""

import os

import pytest

from mha_lib.classroom.lesson.files import write_whole


def test_a_write_that_fails_leaves_the_old_file_and_nothing_beside_it(tmp_path, monkeypatch):
    file = tmp_path / "translator.pt"
    write_whole(file, "old")

    def full(*arguments):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(OSError, match="No space left on device") as raised:
        write_whole(file, "new")
    assert raised.value.filename == str(file)
    assert [path.name for path in tmp_path.iterdir()] == ["translator.pt"]
    assert file.read_text() == "old"


def test_a_file_for_one_person_is_never_readable_by_others_not_even_while_it_is_written(
    tmp_path, monkeypatch
):
    modes, replace = [], os.replace

    def look(beside, path):
        modes.append(os.stat(beside).st_mode & 0o777)
        replace(beside, path)

    monkeypatch.setattr(os, "replace", look)
    write_whole(tmp_path / "mine", "mine", mode=0o600)
    assert modes == [0o600]
