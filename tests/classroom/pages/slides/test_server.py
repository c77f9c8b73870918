"""The server that slides and the site are made with."""

from typing import Any

from mha_lib.classroom.pages.slides import server


def test_nobody_else_finds_the_token_in_the_list_of_processes(tmp_path, monkeypatch):
    started: dict[str, Any] = {}
    monkeypatch.setattr(
        server.subprocess, "Popen", lambda command, **rest: started.update(rest, command=command)
    )
    server.start(server.Server("http://127.0.0.1:1", "a token", tmp_path), tmp_path)
    assert "a token" not in " ".join(started["command"])
    assert started["env"]["JUPYTER_TOKEN"] == "a token"
