"""The server that slides and the site are made with."""

from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from types import SimpleNamespace
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


class Answering(BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()

    do_POST = do_GET

    def log_message(self, *_):
        pass


def test_the_server_on_this_machine_is_asked_past_the_users_proxy(tmp_path, monkeypatch):
    for name in ("http_proxy", "HTTP_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")  # nobody answers there
    monkeypatch.delenv("no_proxy", raising=False)
    (tmp_path / "log").touch()
    asked_once = SimpleNamespace(poll=iter([None, 1]).__next__)
    with ThreadingHTTPServer(("127.0.0.1", 0), Answering) as answering:
        Thread(target=answering.serve_forever).start()
        served = server.Server(f"http://127.0.0.1:{answering.server_port}", "token", tmp_path)
        try:
            server.wait_for(served, asked_once, tmp_path / "log")
            served.trust(tmp_path / "deck.ipynb")
        finally:
            answering.shutdown()
