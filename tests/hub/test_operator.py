"""What whoever runs the hub meets: a wall that is gone, settings that others can read, logins, recipes."""

import re
from pathlib import Path

import pytest

from tests.hub.client import LESSON, PATIENCE, code_cells, with_source
from tests.hub.server import ROOT, Hub, run
from tests.waiting import eventually

pytestmark = pytest.mark.ci

NAMES = ("20231234", "ada.lovelace@example.edu", "艾达")


def test_without_the_wall_no_server_starts_and_the_page_says_why(hub: Hub):
    walter = hub.student("walter")
    assert walter.log_in()
    run("nft", "flush", "chain", "inet", hub.wall, "forward", check=True)
    walter.web.get(f"{hub.url}/hub/spawn")
    page = f"{hub.url}/hub/spawn-pending/walter"
    eventually(lambda: walter.web.get(page).status_code == 503, lambda: hub.log, PATIENCE)
    assert "the firewall rules that keep students away from" in walter.web.get(page).text
    assert run("podman", "container", "exists", f"{hub.prefix}-walter").returncode == 1
    hub.stop()
    hub.start()
    assert walter.start_server().ok
    walter.stop_server()


def test_settings_that_others_can_read_are_refused(hub: Hub):
    hub.stop()
    try:
        with pytest.raises(AssertionError, match=f"has mode 640.* sudo chmod 600 {hub.folder}/settings.py"):
            hub.start(mode=0o640)
    finally:
        hub.stop()
        hub.start()


def test_the_hub_says_how_many_students_the_machine_holds(hub: Hub):
    said = re.findall(r"has (\d+) GB of memory and holds (\d+) students .* At most (\d+) servers", hub.log)
    memory, held, most = map(int, said[-1])
    assert max(1, (memory - 0.5 - 4) / 1.33 - 1) <= held <= max(1, (memory + 0.5 - 4) / 1.33)
    assert most == 40  # as the settings of these tests say


def test_the_proxy_has_no_rights(hub: Hub):
    status = Path(f"/proc/{hub.proxy}/status").read_text()
    assert "Uid:\t10002\t10002\t10002\t10002" in status
    assert f"CapPrm:\t{0:016x}" in status
    assert run("getent", "passwd", "10002").returncode == 2


def test_an_institutions_names_log_in_where_they_are_allowed(hub: Hub):
    """By JupyterHub's login for tests, as another authenticator than that of the class password."""
    hub.stop()
    hub.start(f"c.JupyterHub.authenticator_class = 'dummy'\nc.Authenticator.allowed_users = {set(NAMES)}\n")
    try:
        for name in ("ada", "instructor"):
            assert not hub.student(name).log_in()
        lin = hub.student("lin")
        assert lin.log_in()
        # The volume of "\x0f0\x09f\x098\x080" would be that of "😀".
        assert lin.ask_hub("POST", "users", {"usernames": ["\x0f0\x09f\x098\x080"]}).status_code == 400
        for name in NAMES:
            ada = hub.student(name)
            assert ada.log_in(), name
            assert ada.start_server().ok
            ada.save({**ada.read(), "cells": []}, f"work/{name}.ipynb")
            shown = {entry["name"] for entry in ada.ask("GET", "contents/work")["content"]}
            assert {f"{one}.ipynb" for one in NAMES} & shown == {f"{name}.ipynb"}
            ada.stop_server()
    finally:
        hub.stop()
        hub.start()


def test_the_recipes_of_the_readme_keep_restore_and_remove_a_students_work(hub: Hub, tmp_path: Path):
    guide = (ROOT / "hub/README.md").read_text().partition("## Back up")[2]
    places = {"sudo ": "", "/var/backups/mha": f"{tmp_path}/kept", "/var/lib/mha-hub": f"{hub.folder}/state"}
    places |= {"/etc/mha-hub.py": f"{hub.folder}/settings.py", "mha-ann": f"{hub.prefix}-rita"}
    for place, here in (places | {"^mha-": f"^{hub.prefix}-"}).items():
        guide = guide.replace(place, here)
    back_up, restore, remove = re.findall(r"^```\n(.*?)^```", guide, re.DOTALL | re.MULTILINE)[:3]

    rita = hub.student("rita")
    assert rita.log_in()
    assert rita.start_server().ok
    cell = next(iter(code_cells(rita.read())))
    rita.save(with_source(rita.read(), cell, "mine = 1"))
    run("sh", "-ec", back_up, check=True)
    assert (tmp_path / "kept/state/jupyterhub.sqlite").exists()
    rita.save(with_source(rita.read(), cell, "mine = 2"))
    rita.stop_server()
    run("sh", "-ec", restore, check=True)
    assert rita.start_server().ok
    assert code_cells(rita.read(LESSON))[cell] == "mine = 1"

    lin = hub.instructor()
    assert lin.log_in()
    assert lin.ask_hub("DELETE", "users/rita").ok
    run("sh", "-ec", remove, check=True)
    assert run("podman", "volume", "exists", f"{hub.prefix}-rita").returncode == 1
    assert run("podman", "container", "exists", f"{hub.prefix}-rita").returncode == 1
    assert not (tmp_path / f"kept/{hub.prefix}-rita.tar").exists()
