"""A class at the real hub: what its students do in a lesson, and what they lose when something is killed."""

import signal
import subprocess
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.hub.client import LESSON, PATIENCE, Student, code_cells, with_source
from tests.hub.server import ROOT, Hub, run
from tests.waiting import eventually

pytestmark = pytest.mark.ci

ANSWER, CHECK, REPORT = "split-heads-answer", "split-heads-check", "report-code"
WRONG = "def my_split_heads(x, num_heads):\n    return x.view(x.shape[0], num_heads, x.shape[1], -1)"
RIGHT = "def my_split_heads(x, num_heads):\n    return x.view(*x.shape[:2], num_heads, -1).transpose(1, 2)"
EXPLORER = """
from mha_lib.classroom.explorer.widget import Explorer
shown, = (one for one in Explorer._alive if isinstance(one, Explorer) and "valid_lens" in one.settings)
print(shown.comm.comm_id)
"""


def work_through_lesson(student: Student) -> None:
    for name, code in code_cells(student.read()).items():
        said = student.run(code)
        assert "Traceback" not in said, f"{student.name}, {name}: {said}"


def answer(student: Student) -> None:
    check = code_cells(student.read())[CHECK]
    assert "✗" in student.run(f"{WRONG}\n{check}")
    assert "right on" in student.run(f"{RIGHT}\n{check}")
    student.save(with_source(student.read(), ANSWER, RIGHT))
    student.run(f"check.report('{student.name.title()}')")


def move_sliders(student: Student) -> None:
    """To 3 heads, the third choice of the one, and to one token, the first of the other."""
    student.change_widget(student.run(EXPLORER).strip(), {"setting": [2, 0]})
    seen = student.run("print(*shown.weights.shape, shown.weights[..., 1:].sum().item())")
    assert seen.strip() == "3 8 8 0.0"


@pytest.mark.parametrize("count", [2, pytest.param(10, marks=pytest.mark.whole)])
def test_a_class_works_through_lesson_03_at_once(hub: Hub, count: int, tmp_path):
    students = [hub.student(f"class{count}-{number}") for number in range(count)]
    with ThreadPoolExecutor(count) as at_once:
        for act in (Student.arrive, work_through_lesson, move_sliders, answer):
            list(at_once.map(act, students))
    volumes = run("podman", "info", "--format={{.Store.VolumePath}}", check=True).stdout.strip()
    command = [".venv/bin/python", "-m", "mha_lib.classroom", "overview", volumes, "--output", str(tmp_path)]
    overview = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for student in students:
        volume = f"{hub.prefix}-{student.name.replace('-', '-2d')}"
        assert f"{student.name.title()}" in overview, overview
        assert volume in (tmp_path / "overview.csv").read_text()
        student.stop_server()


@pytest.fixture
def student(hub: Hub) -> Student:
    """With a server and a kernel, whatever the test before has killed."""
    ann = hub.student("ann")
    ann.arrive()
    ann.save(with_source(ann.read(), ANSWER, RIGHT))
    ann.run("kept = 6 * 7")
    return ann


def test_the_figures_of_a_copy_are_found(student: Student):
    assert "<svg" in student.web.get(f"{student.server}/files/img/masks.svg").text


def test_an_instructor_finds_decks_with_notes(hub: Hub):
    instructor = hub.instructor()
    assert instructor.log_in()
    assert instructor.start_server().ok
    deck = instructor.read("work/deck-en/03_multi_head_attention.ipynb")
    assert "notes" in {cell["metadata"]["slideshow"]["slide_type"] for cell in deck["cells"]}
    instructor.stop_server()


def test_a_hub_that_was_killed_finds_its_students_at_work(hub: Hub, student: Student):
    for how in (signal.SIGKILL, signal.SIGTERM):
        hub.stop(how)
        hub.start()
        assert student.ask_hub("GET", "user").ok  # the login holds
        student.connect()
        assert student.run("print(kept)").strip() == "42"


def test_a_proxy_that_was_killed_is_started_again_with_its_routes(hub: Hub, student: Student):
    killed = hub.kill_proxy()
    eventually(lambda: hub.proxy not in (0, killed), lambda: hub.log, PATIENCE)
    eventually(hub.answers, lambda: hub.log, PATIENCE)
    eventually(lambda: student.web.get(f"{student.server}/api/status").ok, lambda: hub.log, PATIENCE)
    student.connect()
    assert student.run("print(kept)").strip() == "42"


def test_a_server_that_was_killed_loses_its_variables_and_no_file(hub: Hub, student: Student):
    run("podman", "kill", f"{hub.prefix}-{student.name}", check=True)
    eventually(lambda: not student.has_server(), lambda: hub.log, PATIENCE)
    assert student.start_server().ok
    assert code_cells(student.read())[ANSWER] == RIGHT
    student.start_kernel(LESSON)
    assert "NameError" in student.run("print(kept)")


def test_a_machine_that_starts_again_has_every_file_login_and_wall(hub: Hub, student: Student):
    hub.stop(signal.SIGKILL)
    hub.kill_proxy()
    run("podman", "kill", f"{hub.prefix}-{student.name}", check=True)
    run("nft", "delete", "table", "inet", hub.wall, check=True)
    hub.start()
    assert student.start_server().ok
    assert code_cells(student.read())[ANSWER] == RIGHT
    run("nft", "list", "table", "inet", hub.wall, check=True)
