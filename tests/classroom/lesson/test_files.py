"""A file is written whole or not at all."""

import os
import stat

import pytest

from mha_lib.classroom.lesson.files import write_whole


@pytest.mark.parametrize("fails", ["write", "replace"])
def test_a_write_that_fails_leaves_the_old_file_and_nothing_beside_it(tmp_path, monkeypatch, fails):
    file = tmp_path / "translator.pt"
    write_whole(file, "old")

    def full(*arguments):
        if fails == "write":
            os.write(os.open(arguments[0], os.O_CREAT | os.O_WRONLY, stat.S_IRWXU), b"half")
        raise OSError(28, "No space left on device")

    if fails == "write":
        monkeypatch.setattr(type(file), "write_bytes", full)
    else:
        monkeypatch.setattr(os, "replace", full)
    with pytest.raises(OSError, match="No space left on device") as raised:
        write_whole(file, "new")
    assert raised.value.filename == str(file)
    assert [path.name for path in tmp_path.iterdir()] == ["translator.pt"]
    assert file.read_text() == "old"
