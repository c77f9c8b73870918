"""What somebody who means harm tries, with a student's login and a kernel: each attempt must fail."""

import json
import os
import re
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from playwright.sync_api import sync_playwright

from mha_lib.classroom.lesson import list_languages, prepare_lessons
from mha_lib.classroom.lesson.reading import read_lesson
from mha_lib.classroom.lesson.slides import is_for_instructors, source
from mha_lib.classroom.pages.browser import find_browser
from tests.browser.engines import NEEDED
from tests.browser.waiting import until
from tests.hub.client import LESSON, PATIENCE, Student
from tests.hub.server import IMAGE, OF_PODMAN, ROOT, Hub, run
from tests.lessons import ENGLISH
from tests.waiting import eventually

pytestmark = pytest.mark.ci

CONNECT = """
import errno, socket
def tries(address, port):
    with socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET) as probe:
        probe.settimeout(20)
        try:
            probe.connect((address, port))
            return "open"
        except OSError as error:
            return errno.errorcode.get(error.errno, str(error))
"""
CLOSED = {"ENETUNREACH", "ECONNREFUSED", "EHOSTUNREACH", "timed out"}


def arrived(hub: Hub, name: str) -> Student:
    """A student with a server and a kernel that knows ``tries``."""
    student = hub.student(name)
    student.arrive()
    student.run(CONNECT)
    return student


@pytest.fixture(scope="module")
def victim(hub: Hub) -> Student:
    return arrived(hub, "victim")


@pytest.fixture(scope="module")
def thief(hub: Hub) -> Student:
    return arrived(hub, "thief")


def start_again(student: Student) -> None:
    """As ``arrived`` left it, for the tests that come after."""
    assert student.start_server().ok
    student.start_kernel()
    student.run(CONNECT)


def inspect(hub: Hub, student: Student) -> dict:
    said = run("podman", "inspect", f"{hub.prefix}-{student.name}", check=True)
    return dict(json.loads(said.stdout)[0])


def network_of(hub: Hub, student: Student) -> dict:
    return dict(inspect(hub, student)["NetworkSettings"]["Networks"][f"{hub.prefix}-{student.name}"])


@contextmanager
def listening() -> Iterator[int]:
    """A service of this machine that listens everywhere, as ssh does."""
    with socket.create_server(("0.0.0.0", 0)) as service:
        yield int(service.getsockname()[1])


# The network


def test_no_port_of_another_student_can_be_reached(hub: Hub, victim: Student, thief: Student):
    address = network_of(hub, victim)["IPAddress"]
    open_here = "import threading; box = socket.create_server(('0.0.0.0', 5678))"  # as a debugger opens it
    victim.run(open_here)
    with socket.create_connection((address, 5678)):  # for the hub's machine it is open
        pass
    said = thief.run(f"print(*(tries('{address}', port) for port in (8888, 5678, 22, 80)), sep='\\n')")
    assert set(said.splitlines()) <= CLOSED
    victim.run("box.close()")


def test_of_this_machine_the_hub_alone_can_be_reached(hub: Hub, victim: Student, thief: Student):
    own, others = network_of(hub, thief)["Gateway"], network_of(hub, victim)["Gateway"]
    proxy = int(hub.url.rpartition(":")[2])
    with listening() as service:
        assert thief.run(f"print(tries('{own}', {hub.port}))").strip() == "open"
        wanted = [(own, port) for port in (service, proxy, hub.proxy_port, 53)]
        wanted += [(others, port) for port in (service, hub.port)]
        for address, port in wanted:
            assert thief.run(f"print(tries('{address}', {port}))").strip() in CLOSED, (address, port)


def test_there_is_no_way_out_and_no_other_protocol(thief: Student):
    routes = thief.run("print(open('/proc/net/route').read())").strip().splitlines()[1:]
    assert [line.split()[2] for line in routes] == ["00000000"]  # one network, without a gateway
    assert thief.run("print(open('/proc/net/if_inet6').read())").strip() == ""
    raw = "socket.socket(socket.AF_PACKET, socket.SOCK_RAW)"
    assert "PermissionError" in thief.run(raw)


def test_a_kernel_and_its_debugger_listen_on_no_port_of_the_network(victim: Student):
    said = victim.run("from ipykernel import get_connection_info; print(get_connection_info())")
    assert json.loads(said)["transport"] == "ipc"
    listed = victim.run("print(*(line.split()[1] for line in open('/proc/net/tcp') if ' 0A ' in line))")
    loopback = "0100007F:"
    assert [one for one in listed.split() if not one.startswith(loopback)] == [f"00000000:{8888:X}"]


def test_a_neighbour_in_the_network_of_this_machine_finds_no_port(hub: Hub, victim: Student):
    """A network of the test's own, with one other machine in it."""
    address = network_of(hub, victim)["IPAddress"]
    here, neighbour = (f"10.98.{hub.port // 256}.{hub.port % 256 // 4 * 4 + one}" for one in (1, 2))
    make = f"""
        ip netns add {hub.prefix}
        ip link add {hub.prefix}a type veth peer name {hub.prefix}b netns {hub.prefix}
        ip address add {here}/30 dev {hub.prefix}a
        ip link set {hub.prefix}a up
        ip -n {hub.prefix} address add {neighbour}/30 dev {hub.prefix}b
        ip -n {hub.prefix} link set {hub.prefix}b up
        ip -n {hub.prefix} route add default via {here}
    """
    reach = f"{CONNECT}\nimport sys\nprint(*(tries(*target) for target in eval(sys.argv[1])), sep='\\n')"
    proxy = int(hub.url.rpartition(":")[2])
    try:
        run("sh", "-ec", make, check=True)
        with listening() as port:
            targets = [(here, port), (here, hub.port), (here, proxy), (address, 8888)]
            program = ["python3", "-c", reach, repr(targets)]
            said = run("ip", "netns", "exec", hub.prefix, *program, check=True).stdout.splitlines()
    finally:
        run("ip", "netns", "delete", hub.prefix)
    assert said[0] == "open"
    assert len(said) == 4
    assert set(said[1:]) <= CLOSED, said


# The container


def test_the_system_is_read_only_and_gives_no_rights(thief: Student):
    for path in ("/usr/bin/x", "/opt/mha/notebooks/en/x.ipynb", "/proc/sys/kernel/core_pattern"):
        said = thief.run(f"open('{path}', 'a')")
        assert "Read-only file system" in said or "PermissionError" in said, said
    mounts = thief.run("print(open('/proc/mounts').read())").splitlines()
    assert [line.split()[3][:3] for line in mounts if " / " in line] == ["ro,"]
    status = thief.run("print(open('/proc/self/status').read())")
    for right in ("CapEff", "CapBnd"):
        assert f"{right}:\t{0:016x}" in status
    assert "NoNewPrivs:\t1" in status
    assert "Seccomp:\t2" in status
    assert "Uid:\t10001\t10001\t10001\t10001" in status
    sockets = "glob.glob('/run/*/*.sock') + glob.glob('/var/run/*.sock')"
    assert thief.run(f"import glob; print({sockets})").strip() == "[]"


def test_nothing_of_the_hub_is_in_the_environment_or_the_image(hub: Hub, thief: Student):
    secrets = [hub.secret("class-password"), hub.secret("instructor-password"), hub.secret("cookie_secret")]
    seen = thief.run("import os; print(dict(os.environ))")
    assert not [secret for secret in secrets if secret in seen]
    history = run("podman", "history", "--no-trunc", "--format={{.CreatedBy}}", IMAGE, check=True).stdout
    assert "password" not in history
    found = thief.run("import os; print(*os.listdir('/opt'), *os.listdir('/opt/mha'))")
    beside = {"constraints.txt", "mha", "pyproject.toml", "student.py", "venv", "wheel"}
    assert set(found.split()) == {*beside, "build", "img", "notebooks", "trainings", "work"}


def test_memory_is_limited_with_shared_memory_and_the_others_go_on(hub: Hub, victim: Student, thief: Student):
    limit = inspect(hub, thief)["HostConfig"]
    assert limit["NanoCpus"] == 2 * 10**9 or limit["CpuQuota"] == 2 * limit["CpuPeriod"]
    for folder in ("/dev/shm", "/tmp"):
        said = thief.run(
            f"with open('{folder}/big', 'wb') as file:\n"
            "    for _ in range(600):\n        file.write(bytes(2**20))"
        )
        assert "No space left" in said
    # What lies in them counts: with it, shared memory of 1.4 GB is too much.
    take = (
        "import mmap\nheld = mmap.mmap(-1, 1400 * 2**20)\nfor _ in range(1400):\n    held.write(bytes(2**20))"
    )
    run_it = f"import subprocess, sys; print(subprocess.run([sys.executable, '-c', {take!r}]).returncode)"
    assert thief.run(run_it).strip() == "-9"
    thief.run("import os; os.remove('/dev/shm/big'); os.remove('/tmp/big')")
    assert thief.run(run_it).strip() == "0"
    assert victim.run("print(6 * 7)").strip() == "42"


def test_processes_are_limited_and_the_others_go_on(victim: Student, thief: Student):
    fork = (
        "import os, signal\nchildren = []\ntry:\n    for _ in range(2000):\n        pid = os.fork()\n"
        "        if not pid:\n            signal.pause()\n        children.append(pid)\n"
        "except BlockingIOError as error:\n    print('stopped after', len(children), error)\n"
        "for child in children:\n    os.kill(child, signal.SIGKILL)\n    os.waitpid(child, 0)"
    )
    said = thief.run(fork)
    assert "stopped after" in said
    assert int(said.split()[2]) < 512
    assert victim.run("print(6 * 7)").strip() == "42"


def test_a_process_does_not_outlive_its_server(hub: Hub, thief: Student):
    marker = f"{hub.prefix}-stays"
    waits = ["setsid", "python3", "-c", "import signal; signal.pause()", marker]
    thief.run(f"import subprocess; subprocess.Popen({waits})")
    eventually(lambda: runs_here(marker), "the process of the student")
    thief.stop_server()
    assert not runs_here(marker)
    assert not run("podman", "network", "ls", "-q", f"--filter=name={hub.prefix}-{thief.name}").stdout
    start_again(thief)


def runs_here(marker: str) -> bool:
    return marker in run("ps", "-eo", "args").stdout


def test_what_a_server_says_fills_no_disk(hub: Hub, thief: Student):
    thief.run(
        "with open('/proc/1/fd/2', 'wb', 0) as log:\n"
        "    for _ in range(400):\n        log.write(b'x' * 99_999 + b'\\n')"
    )
    log = inspect(hub, thief)["HostConfig"]["LogConfig"]["Path"]
    assert int(run("stat", "--format=%s", log, check=True).stdout) < 21_000_000


def test_no_account_of_this_machine_owns_what_students_write():
    assert run("getent", "passwd", "10001").returncode == 2
    volumes = run("podman", "info", "--format={{.Store.VolumePath}}", check=True).stdout.strip()
    others = run("setpriv", "--reuid=10001", "--regid=10001", "--clear-groups", "ls", volumes)
    assert "Permission denied" in others.stderr


# What is for instructors


def files_with(texts: str, *container: str) -> list[str]:
    """The files of a container, read by the student's account, that hold one of the texts."""
    # The judge computes the right answer to compare with: hub/README.md says that it can be read there.
    search = ["grep", "-rlaFs", "--exclude-dir=exercises", "--file=-"]
    command = [*container, "sh", "-c", 'exec "$@" $(ls -d /* | grep -vxE "/(proc|sys|dev)")', "sh", *search]
    return subprocess.run(command, input=texts, env=OF_PODMAN, capture_output=True, text=True).stdout.split()


def test_no_file_that_a_student_can_reach_has_a_solution_or_a_note_or_a_key(hub: Hub, thief: Student):
    """Searched for is the longest piece of each, in all languages, as it stands in a file; one a line."""
    keys = [file.read_text("utf-8") for file in ROOT.glob("docs/*/instructors/*.md")]
    lessons = [lesson for language in list_languages(ROOT) for lesson in prepare_lessons(ROOT, language)]
    cells = [cell for lesson in lessons for cell in read_lesson(lesson).cells if is_for_instructors(cell)]
    hidden = [*map(source, cells), *keys]
    pieces = [re.split(r'["\\\n]', text) for text in hidden]  # a notebook's JSON escapes these
    texts = "\n".join(max(some, key=len).strip() for some in pieces)
    thiefs = ("podman", "exec", "--interactive", f"{hub.prefix}-{thief.name}")
    assert files_with(texts, *thiefs) == []
    instructors = ("podman", "run", "--rm", "--interactive", "--network=none", f"{IMAGE}-instructor")
    assert len(files_with(texts, *instructors)) == len(ENGLISH) * len(list_languages(ROOT))


# The hub


def test_a_student_cannot_use_the_server_or_the_rights_of_another(hub: Hub, victim: Student, thief: Student):
    answer = thief.web.get(f"{victim.server}/api/contents/{LESSON}")
    assert answer.status_code in (401, 403)
    assert "cells" not in answer.text
    assert thief.ask_hub("GET", "users").status_code == 403
    assert thief.ask_hub("GET", f"users/{victim.name}").status_code in (403, 404)
    for method, path in (
        ("POST", f"users/{victim.name}/tokens"),
        ("DELETE", f"users/{victim.name}/server"),
        ("PATCH", f"users/{thief.name}"),
        ("POST", f"users/{thief.name}/servers/second"),
        ("POST", "shutdown"),
        ("GET", "../metrics"),
    ):
        assert thief.ask_hub(method, path).status_code in (400, 403, 404), (method, path)


def test_a_student_chooses_no_image(hub: Hub):
    mallory = hub.student("mallory")
    assert mallory.log_in()
    mallory.ask_hub("POST", "users/mallory/server", {"image": IMAGE})
    eventually(
        lambda: not mallory.ask_hub("GET", "users/mallory").json()["pending"], lambda: hub.log, PATIENCE
    )
    assert not mallory.has_server()
    assert run("podman", "container", "exists", f"{hub.prefix}-mallory").returncode == 1


def test_the_token_of_a_server_is_worth_that_server_alone(hub: Hub, victim: Student, thief: Student):
    token = thief.run("import os; print(os.environ['JUPYTERHUB_API_TOKEN'])").strip()
    assert len(token) > 20
    stolen = hub.student("nobody").web
    headers = {"Authorization": f"token {token}"}
    for address in (
        f"{hub.url}/hub/api/users",
        f"{hub.url}/hub/api/users/{victim.name}",
        f"{victim.server}/api/contents",
    ):
        assert stolen.get(address, headers=headers).status_code in (401, 403, 404), address
    made = stolen.post(f"{hub.url}/hub/api/users/{thief.name}/tokens", headers=headers, json={})
    assert made.status_code in (403, 404)


NO_NAMES = ["ann;id", "ann*", "$ann", "ann\u200b", "ann\nbob", "a b", "../ann", "-rf", "änn", "аnn"]
NO_NAMES += ["a" * 21, "ann.bob", "1ann", "", "ann/../lin", "ann%2e", "{prefix}"]


def test_a_name_that_is_none_makes_nobody(hub: Hub):
    for name in NO_NAMES:
        assert not hub.student(name).log_in(), name
    instructor = hub.instructor()
    assert instructor.log_in()
    known = {user["name"] for user in instructor.ask_hub("GET", "users").json()}
    assert not [one for one in known if not re.fullmatch(r"[a-z][a-z0-9-]*", one)]


def test_a_wrong_password_lets_nobody_in(hub: Hub):
    assert not hub.student("eve", "guess-guess").log_in()
    assert not hub.student("lin").log_in()  # an instructor, with the class's password
    assert not hub.student("eve", hub.secret("instructor-password")).log_in()


def test_a_login_that_another_page_sends_is_refused(hub: Hub):
    data = {"username": "eve", "password": hub.secret("class-password")}
    assert hub.student("eve").web.post(f"{hub.url}/hub/login", data=data).status_code == 403


def test_secrets_of_the_hub_are_for_root_alone(hub: Hub):
    state = hub.folder / "state"
    assert state.stat().st_mode & 0o777 == 0o700
    for name in ("cookie_secret", "class-password", "instructor-password"):
        assert (state / name).stat().st_mode & 0o777 == 0o600


def test_who_becomes_an_instructor_leaves_cookies_tokens_and_files_behind(hub: Hub):
    early = {name: hub.student(name) for name in ("kim", "sam")}
    tokens = {}
    for name, student in early.items():
        assert student.log_in()
        made = student.ask_hub("POST", f"users/{name}/tokens").json()["token"]
        tokens[name] = {"Authorization": f"token {made}"}
        assert is_known(hub, tokens[name])
    assert early["kim"].start_server().ok
    early["kim"].save({**early["kim"].read(), "cells": []}, "work/laid.ipynb")

    hub.stop()  # kim by the settings
    hub.start('c.Authenticator.admin_users = {"lin", "kim"}\n')
    assert run("podman", "container", "exists", f"{hub.prefix}-kim").returncode == 1
    kim = hub.instructor("kim")
    assert kim.log_in()
    assert kim.start_server().ok
    assert "laid" not in json.dumps(kim.ask("GET", "contents/work"))
    assert kim.ask_hub("PATCH", "users/sam", {"admin": True}).ok  # sam by the page for administrators
    for name, student in early.items():
        assert student.ask_hub("GET", "user").status_code == 403
        assert not is_known(hub, tokens[name])
    assert early["sam"].log_in()
    assert not early["sam"].ask_hub("GET", "user").json()["admin"]  # by the class password nobody is one


def is_known(hub: Hub, token: dict[str, str]) -> bool:
    return hub.student("anybody").web.get(f"{hub.url}/hub/api/user", headers=token).ok


TRAP = """
import tornado.web
from jupyter_server.serverapp import ServerWebApplication

PAGE = '''<body><script>
const framed = (address) => new Promise((done) => {
    const frame = document.createElement("iframe");
    frame.onload = () => done(frame.contentDocument ? frame.contentDocument.body.innerHTML : "failed");
    frame.src = address;
    document.body.append(frame);
});
const hub = "HUB", victim = "VICTIM", hello = {method: "POST", credentials: "include", body: "{}"};
const attempts = [
    () => fetch(`${hub}/hub/api/users/victim/tokens`, hello),
    () => fetch(`${hub}/hub/api/users/victim/tokens`, {...hello, mode: "no-cors"}),
    () => fetch(`${hub}/hub/home`, {credentials: "include"}).then(page => page.text()),
    () => fetch(`${victim}/api/contents`, {credentials: "include"}).then(page => page.text()),
    () => fetch(`${victim}/api/kernels`, {...hello, mode: "no-cors"}),
    () => framed(`${hub}/hub/token`),
    () => new Promise((done) => {
        const channel = new WebSocket(`${victim.replace("http", "ws")}/api/events/subscribe`);
        channel.onopen = () => done("open");
        channel.onerror = () => done("failed");
    }),
    () => {
        document.cookie = "_xsrf=TOSSED; domain=hub.test; path=/hub/";
        return fetch(`${hub}/hub/api/users/victim/tokens?_xsrf=TOSSED`, {...hello, mode: "no-cors"});
    },
    () => document.cookie.match(/jupyterhub-hub-login|jupyterhub-user-victim/)[0],
];
Promise.all(attempts.map(async (attempt) => {
    try { const got = await attempt(); return got.type === "opaque" ? "unseen" : String(got); }
    catch (error) { return "failed"; }
})).then((said) => { document.title = JSON.stringify(said); });
</script>'''

class Trap(tornado.web.RequestHandler):
    def get(self):
        self.write(PAGE)

usual = ServerWebApplication.init_handlers
def with_trap(self, *arguments):
    return [("/user/thief/trap", Trap), *usual(self, *arguments)]
ServerWebApplication.init_handlers = with_trap
"""


def test_a_page_that_one_student_writes_cannot_use_the_login_of_another(
    hub: Hub, victim: Student, thief: Student
):
    """The thief's server runs the thief's code from its settings, and shows the victim's browser any page."""
    if not (path := find_browser()) and not os.environ.get("MHA_REQUIRE_BROWSER"):
        pytest.skip(NEEDED["chromium"])
    trap = TRAP.replace("HUB", hub.url).replace("VICTIM", victim.server)
    trap = trap.replace("TOSSED", thief.token_of_form("/hub/"))
    thief.run(
        "import pathlib; home = pathlib.Path.home() / '.jupyter'; home.mkdir(exist_ok=True)\n"
        f"_ = (home / 'jupyter_server_config.py').write_text({trap!r})"
    )
    thief.stop_server()
    start_again(thief)
    thief.run("import pathlib; (pathlib.Path.home() / '.jupyter' / 'jupyter_server_config.py').unlink()")
    before = (len(tokens_of(victim)), len(victim.ask("GET", "kernels")))
    host = "--host-resolver-rules=MAP *.hub.test 127.0.0.1, MAP hub.test 127.0.0.1"
    options = ["--no-sandbox", "--disable-gpu", host]
    with (
        sync_playwright() as playwright,
        playwright.chromium.launch(executable_path=path, args=options) as browser,
    ):
        page = browser.new_page()
        page.set_default_timeout(PATIENCE * 1000)
        page.goto(f"{hub.url}/hub/login")
        page.fill("input[name=username]", victim.name)
        page.fill("input[name=password]", victim.password)
        page.click("input[type=submit]")
        page.wait_for_url(f"{victim.server}/lab/**")
        page.goto(f"{thief.server}/trap")
        said = json.loads(until(page, "document.title"))
    assert set(said) <= {"failed", "unseen"}, said
    logins = 1  # of the browser itself
    assert len(tokens_of(victim)) <= before[0] + logins
    assert len(victim.ask("GET", "kernels")) == before[1]
    assert not [token for token in tokens_of(victim) if token["note"].startswith("Requested via api")]


def tokens_of(student: Student) -> list[dict]:
    return list(student.ask_hub("GET", f"users/{student.name}/tokens").json()["api_tokens"])
