"""Slides are made of a copy of the course, which begins with what the lessons have trained and kept."""

from types import SimpleNamespace

from mha_lib.classroom.slides_pdf import server


def test_the_copy_has_what_a_lesson_has_trained_and_nothing_else_of_the_working_copies(tmp_path, monkeypatch):
    for name in ("notebooks/en/01.ipynb", "work/translator.pt", "work/en/01.ipynb"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    process = SimpleNamespace(terminate=lambda: None, wait=lambda: None)
    monkeypatch.setattr(server, "start", lambda *_: process)
    monkeypatch.setattr(server, "wait_for", lambda *_: None)
    with server.serve_copy(tmp_path, "en") as served:
        files = {file.relative_to(served.course).as_posix() for file in served.course.rglob("*.*")}
    assert files == {"notebooks/en/01.ipynb", "work/translator.pt"}
