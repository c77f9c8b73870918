"""A class of two at the real hub: what each of them finds and keeps, and what nobody else can do or see."""

import json
import pwd
import stat
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.hub.client import LESSON, Student, code_cells, with_source
from tests.hub.server import ROOT, Hub

pytestmark = pytest.mark.ci

ANSWER, CHECK = "split-heads-answer", "split-heads-check"
WRONG = "def my_split_heads(x, num_heads):\n    return x.view(x.shape[0], num_heads, x.shape[1], -1)"
RIGHT = "def my_split_heads(x, num_heads):\n    return x.view(*x.shape[:2], num_heads, -1).transpose(1, 2)"


@pytest.fixture(scope="module")
def class_of_two(hub: Hub) -> tuple[Student, Student]:
    """Both logged in, with a server and a kernel, which started at the same time."""
    both = hub.student("ann"), hub.student("bob")

    def arrive(student: Student) -> None:
        assert student.log_in()
        assert student.start_server().ok
        student.start_kernel()

    with ThreadPoolExecutor() as at_once:
        list(at_once.map(arrive, both))
    return both


def test_each_student_is_a_user_of_the_system_with_a_home_of_their_own(hub, class_of_two):
    for student in class_of_two:
        account, home = pwd.getpwnam(student.name), hub.home(student)
        assert student.run("import os; print(os.getuid(), os.getgid())").split() == [
            str(account.pw_uid),
            str(account.pw_gid),
        ]
        assert account.pw_dir == str(home)
        assert stat.S_IMODE(home.stat().st_mode) == 0o700
    assert len({pwd.getpwnam(student.name).pw_uid for student in class_of_two} - {0}) == 2


def test_the_server_opens_a_copy_of_the_lessons_without_notes(class_of_two):
    for student in class_of_two:
        first = student.web.get(f"{student.server}/")
        assert first.url.endswith("/lab/tree/course/work/en/01_single_head_attention.ipynb")
        kinds = {cell["metadata"]["slideshow"]["slide_type"] for cell in student.read()["cells"]}
        assert kinds == {"slide", "subslide", "fragment", "skip", "-"} & kinds
        figure = student.web.get(f"{student.server}/files/course/img/subspaces.svg")
        assert figure.ok
        assert "<svg" in figure.text


def test_students_can_neither_read_each_other_nor_change_the_course(hub, class_of_two):
    ann, bob = class_of_two
    for path in (hub.home(bob), hub.home(bob) / LESSON, hub.folder / "state" / "class-password"):
        assert "PermissionError" in ann.run(f"import os; os.stat('{path}'); os.open('{path}', os.O_RDONLY)")
    assert "PermissionError" in ann.run(f"open('{ROOT}/README.md', 'a')")
    assert "PermissionError" in ann.run(f"open('{ROOT}/notebooks/en/new.ipynb', 'w')")


def test_a_student_cannot_use_the_server_of_another(class_of_two):
    ann, bob = class_of_two
    answer = ann.web.get(f"{bob.server}/api/contents/{LESSON}")
    assert answer.status_code in (401, 403)
    assert "cells" not in answer.text


def test_no_port_of_the_machine_gives_away_what_a_kernel_shows(class_of_two):
    for student in class_of_two:
        said = student.run("from ipykernel import get_connection_info; print(get_connection_info())")
        assert json.loads(said)["transport"] == "ipc"
        assert "0o700" in student.run(
            "import os; print(oct(os.stat(os.environ['JUPYTER_RUNTIME_DIR']).st_mode & 0o777))"
        )


def test_a_kernel_that_wants_too_much_gets_an_error_and_the_others_answer(class_of_two):
    ann, _ = class_of_two
    assert "MemoryError" in ann.run("bytearray(8 * 2**30)")
    assert "File too large" in ann.run(
        "import os; f = os.open('big', os.O_CREAT | os.O_WRONLY); os.truncate(f, 2**40)"
    )
    assert "BlockingIOError" in ann.run(
        "import subprocess\nstarted = []\ntry:\n    for i in range(2000):\n"
        "        started.append(subprocess.Popen(['sleep', '600']))\nfinally:\n"
        "    for one in started:\n        one.kill()\n        one.wait()"
    )
    for student in class_of_two:
        assert student.run("print(6 * 7)").strip() == "42"


def test_an_answer_is_judged_and_found_again_after_a_restart(class_of_two):
    student, other = class_of_two
    code = code_cells(student.read())
    student.run(code["imports"])
    assert "not yet" in student.run(code[ANSWER] + "\n" + code[CHECK])
    assert "✗" in student.run(WRONG + "\n" + code[CHECK])
    said = student.run(RIGHT + "\n" + code[CHECK])
    assert "right on" in said
    student.save(with_source(student.read(), ANSWER, RIGHT))
    student.stop_server()
    assert student.log_in()
    assert student.start_server().ok
    assert code_cells(student.read())[ANSWER] == RIGHT
    assert code_cells(other.read())[ANSWER] == code[ANSWER]


@pytest.mark.parametrize("name", ["root", "nobody"])
def test_no_server_starts_in_an_account_that_the_machine_has_for_something_else(hub, name):
    stranger = hub.visitor(name)
    assert stranger.log_in()
    refused = stranger.start_server()
    assert refused.status_code == 403
    assert f"The account {name} of this machine is not one of the class" in refused.text


def test_a_wrong_password_and_an_unlikely_name_are_refused(hub):
    assert not hub.visitor(hub.prefix + "eve", "guess-guess").log_in()
    for name in ("-rf", "ann/../bob", "a" * 40, "instructor"):
        assert not hub.visitor(name).log_in()


def test_a_login_that_another_page_sends_is_refused(hub):
    answer = hub.visitor("eve").web.post(
        f"{hub.url}/hub/login", data={"username": hub.prefix + "eve", "password": hub.password}
    )
    assert answer.status_code == 403


def test_secrets_of_the_hub_are_for_root_alone(hub):
    state = hub.folder / "state"
    assert stat.S_IMODE(state.stat().st_mode) == 0o700
    for name in ("cookie_secret", "class-password", "instructor-password"):
        assert stat.S_IMODE((state / name).stat().st_mode) == 0o600
