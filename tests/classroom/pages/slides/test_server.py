"""Slides are made of a copy of the course, which begins with what the lessons have trained and kept."""

from types import SimpleNamespace

from mha_lib.classroom.pages.slides import server


def test_the_copy_has_what_a_lesson_has_trained_and_nothing_else_of_the_working_copies(tmp_path, monkeypatch):
    process = SimpleNamespace(terminate=lambda: None, wait=lambda: None)
    monkeypatch.setattr(server, "start", lambda *_, **__: process)
    monkeypatch.setattr(server, "wait_for", lambda *_: None)
    for name in ("notebooks/en/01.ipynb", "work/trainings/train.pt", "work/en/01.ipynb"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    with server.serve_copy(tmp_path) as served:
        files = {file.relative_to(served.course).as_posix() for file in served.course.rglob("*.*")}
    assert files == {"notebooks/en/01.ipynb", "work/trainings/train.pt"}
