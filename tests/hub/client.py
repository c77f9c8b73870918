"""A student at a browser, without the browser: the same forms, cookies, requests and WebSocket."""

import json
import re
import socket
import threading
import uuid
from queue import Queue
from typing import Any
from urllib.parse import quote

import requests
import websocket
from jupyterhub.utils import subdomain_hook_idna
from requests.adapters import HTTPAdapter
from urllib3.util import Retry

from tests.waiting import eventually

PATIENCE = 300  # seconds; a test that passes never waits so long
LESSON = "work/en/03_multi_head_attention.ipynb"
look_up = socket.getaddrinfo


def look_up_here(host: Any, *others: Any, **named: Any) -> Any:
    """Addresses as a network gives them that knows the hub and its students' subdomains."""
    return look_up("127.0.0.1" if str(host).endswith("hub.test") else host, *others, **named)


socket.getaddrinfo = look_up_here


class Student:
    def __init__(self, hub: str, name: str, password: str):
        self.hub, self.name, self.password = hub, name, password
        self.web = requests.Session()
        # A connection that was kept may have been cut since, as by a server that was killed: a browser then
        # asks for the page once more, and so does this.
        again = Retry(total=None, connect=0, read=1, redirect=0, status=0, other=0, allowed_methods=["GET"])
        self.web.mount("http://", HTTPAdapter(max_retries=again))
        self.socket: websocket.WebSocket | None = None

    @property
    def server(self) -> str:
        scheme, host = self.hub.split("://")
        return f"{scheme}://{subdomain_hook_idna(self.name, host, 'user')}{self.path}"

    @property
    def path(self) -> str:
        """The server's path at its address."""
        return f"/user/{quote(self.name, safe='@')}"

    def log_in(self) -> bool:
        """By the form that a browser shows, one that is new here; whether it lets the student in."""
        self.web.cookies.clear()
        form = self.web.get(f"{self.hub}/hub/login", timeout=PATIENCE)
        found = re.search(r'name="_xsrf"\s+value="([^"]+)"', form.text)
        assert found, form.url
        filled = {"_xsrf": found[1], "username": self.name, "password": self.password}
        answer = self.web.post(f"{self.hub}/hub/login?next=%2Fhub%2Fhome", data=filled, timeout=PATIENCE)
        return answer.ok and answer.url.endswith("/hub/home")

    def token_of_form(self, path: str) -> str:
        """The headers by which a page of this path shows that a request comes from it."""
        kept = (cookie for cookie in self.web.cookies if (cookie.name, cookie.path) == ("_xsrf", path))
        return next((cookie.value or "" for cookie in kept), "")

    def ask_hub(self, method: str, path: str, tree: Any = None) -> requests.Response:
        headers = {"X-XSRFToken": self.token_of_form("/hub/"), "Referer": f"{self.hub}/hub/home"}
        url = f"{self.hub}/hub/api/{path}"
        return self.web.request(method, url, json=tree, headers=headers, timeout=PATIENCE)

    def ask(self, method: str, path: str, tree: Any = None) -> Any:
        """A request to the student's own server; what it answers."""
        headers = {"X-XSRFToken": self.token_of_form(f"{self.path}/")}
        url = f"{self.server}/api/{path}"
        answer = self.web.request(method, url, json=tree, headers=headers, timeout=PATIENCE)
        assert answer.ok, f"{method} {url}: {answer.status_code} {answer.text[:500]}"
        return answer.json() if answer.content else None

    def start_server(self) -> requests.Response:
        """Until the server answers; returns what it shows first."""
        page = self.web.get(f"{self.hub}/hub/spawn", timeout=PATIENCE)
        if page.status_code >= 400:
            return page
        eventually(self.is_ready, f"{self.name}'s server", PATIENCE)
        return self.web.get(f"{self.server}/", timeout=PATIENCE)

    def is_ready(self) -> bool:
        known = self.ask_hub("GET", f"users/{self.name}").json()
        assert known.get("pending") or known.get("servers"), f"{self.name}'s server failed to start: {known}"
        return bool(known.get("servers", {}).get("", {}).get("ready"))

    def has_server(self) -> bool:
        return bool(self.ask_hub("GET", f"users/{self.name}").json().get("servers"))

    def arrive(self) -> None:
        """Log in, start the server, which shows the first lesson, and a kernel."""
        assert self.log_in()
        assert self.start_server().url.endswith("/lab/tree/work/en/01_single_head_attention.ipynb")
        self.start_kernel()

    def close(self) -> None:
        self.hang_up()
        self.web.close()

    def hang_up(self) -> None:
        if self.socket:
            self.socket.shutdown()

    def stop_server(self) -> None:
        self.hang_up()
        self.ask_hub("DELETE", f"users/{self.name}/server")
        eventually(lambda: not self.has_server(), f"the end of {self.name}'s server", PATIENCE)

    def read(self, path: str = LESSON) -> dict[str, Any]:
        return dict(self.ask("GET", f"contents/{path}")["content"])

    def save(self, notebook: dict[str, Any], path: str = LESSON) -> None:
        self.ask("PUT", f"contents/{path}", {"type": "notebook", "format": "json", "content": notebook})

    def start_kernel(self, path: str = LESSON) -> None:
        """A kernel for a notebook, as JupyterLab starts it, in the notebook's folder."""
        wanted = {"path": path, "name": path, "type": "notebook", "kernel": {"name": "python3"}}
        self.kernel = self.ask("POST", "sessions", wanted)["kernel"]["id"]
        self.connect()

    def connect(self) -> None:
        """To the kernel, again where the way to it was cut."""
        self.hang_up()
        address = f"{self.server}/api/kernels/{self.kernel}/channels"
        prepared = requests.Request("GET", address).prepare()
        cookies = requests.cookies.get_cookie_header(self.web.cookies, prepared)
        address += f"?_xsrf={self.token_of_form(f'{self.path}/')}"
        origin = self.server.partition("/user")[0]
        self.socket = websocket.create_connection(
            address.replace("http", "ws", 1), timeout=PATIENCE, cookie=cookies, origin=origin
        )
        self.heard: Queue[str | bytes | Exception] = Queue()
        threading.Thread(target=hear, args=(self.socket, self.heard), daemon=True).start()

    def send(self, kind: str, content: dict[str, Any]) -> str:
        """A message to the kernel, as JupyterLab connected to it again where the way was cut; its name."""
        assert self.socket, "start_kernel() comes first"
        if not self.socket.connected:
            self.connect()
        sent = uuid.uuid4().hex
        header = {"msg_id": sent, "msg_type": kind, "username": self.name, "session": sent}
        header |= {"version": "5.3", "date": ""}
        message = {"header": header, "parent_header": {}, "metadata": {}, "content": content}
        self.socket.send(json.dumps(message | {"channel": "shell", "buffers": []}))
        return sent

    def run(self, code: str) -> str:
        """The text that a cell prints and shows, with its error."""
        content = {"code": code, "silent": False, "store_history": True, "allow_stdin": False}
        return self.said_to(self.send("execute_request", content), {"execute_reply", "idle"})

    def change_widget(self, widget: str, state: dict[str, Any]) -> None:
        """Tell the kernel, as a browser does, that a widget has changed, and wait until it has taken it."""
        data = {"method": "update", "state": state, "buffer_paths": []}
        self.said_to(self.send("comm_msg", {"comm_id": widget, "data": data}), {"idle"})

    def said_to(self, sent: str, missing: set[str]) -> str:
        said = ""
        while missing:
            received = self.heard.get(timeout=PATIENCE)
            if isinstance(received, Exception):
                raise received
            answer = json.loads(received) if isinstance(received, str) else {}
            if answer.get("parent_header", {}).get("msg_id") != sent:
                continue
            kind, content = answer["msg_type"], answer["content"]
            missing -= {kind, content.get("execution_state")}
            said += content.get("text", "") + content.get("data", {}).get("text/plain", "")
            if kind == "error":
                said += "\n".join(content["traceback"])
        return said


def hear(connection: websocket.WebSocket, heard: Queue[str | bytes | Exception]) -> None:
    """Keep what a server says, and answer its pings while no test listens: it hangs up on those who don't."""
    try:
        while True:
            heard.put(connection.recv())
    except Exception as error:
        heard.put(error)


def code_cells(notebook: dict[str, Any]) -> dict[str, str]:
    """The code of each cell, by the cell's name."""
    return {cell["id"]: "".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code"}


def with_source(notebook: dict[str, Any], name: str, code: str) -> dict[str, Any]:
    """The notebook with another text in one cell, as a student types it."""
    cells = [cell | {"source": code} if cell["id"] == name else cell for cell in notebook["cells"]]
    return notebook | {"cells": cells}
