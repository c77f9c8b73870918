"""JupyterHub for a class, on one Linux machine: ``make hub`` starts it. hub/README.md says how it is used.

Nothing is edited here, so that ``git pull`` never meets a change of yours: settings of your own stand in
``/etc/mha-hub.py``, which is read last and may change everything that is set here.
"""

import grp
import os
import pwd
import secrets
import subprocess
import sys
from pathlib import Path

from jupyterhub.auth import LocalAuthenticator
from jupyterhub.authenticators.shared import SharedPasswordAuthenticator
from jupyterhub.spawner import Spawner
from tornado.web import HTTPError

COURSE = Path(__file__).resolve().parents[1]
STATE = Path(os.environ.get("MHA_HUB_STATE", "/var/lib/mha-hub"))  # database, cookie secret, passwords
SETTINGS = Path(os.environ.get("MHA_HUB_SETTINGS", "/etc/mha-hub.py"))
PROXY = COURSE / ".venv/hub/node_modules/.bin/configurable-http-proxy"  # where make installs it
CLASS_GROUP = "mha-class"  # the accounts of the system in which a server may be started
INSTRUCTOR = "instructor"
# For each student, under systemd; for each process of a student, without it.
MEMORY, DISK, PROCESSES, CORES = 2 * 2**30, 2 * 2**30, 512, 2


def check_machine() -> None:
    """End here, with one line, where no student's server could start later."""
    if os.geteuid() != 0:
        sys.exit("The hub starts each student's server as that student, which needs root: sudo make hub")
    nobody = pwd.getpwnam("nobody")
    probe = [
        sys.executable,
        "-c",
        "import sys, jupyterhub.singleuser; open(sys.argv[1])",
        str(COURSE / "hub/student.py"),
    ]
    try:
        subprocess.run(
            probe,
            user=nobody.pw_uid,
            group=nobody.pw_gid,
            extra_groups=[],
            cwd="/",
            check=True,
            capture_output=True,
        )
    except (OSError, subprocess.CalledProcessError):
        sys.exit(
            f"Students cannot read the course in {COURSE}, or its Python, {sys.executable}. As root, clone "
            "it where every user may read, with a Python of the system: git clone … /opt/mha"
        )


def kept_secret(name: str, size: int) -> str:
    """A password, made at the first start; root alone reads it."""
    file = STATE / name
    if not file.exists():
        file.touch(mode=0o600)
        file.write_text(f"{secrets.token_hex(size)}\n")
    return file.read_text().strip()


class SharedPasswordWithAccounts(LocalAuthenticator, SharedPasswordAuthenticator):
    """JupyterHub's shared password, for which each name gets a system account of its own."""


def refuse_other_accounts(spawner: Spawner) -> None:
    """Whoever chooses a name at the login must not get the account of that name which the machine has
    for something else: an administrator's, a service's, root's.
    """
    account = pwd.getpwnam(spawner.user.name)
    if account.pw_uid == 0 or account.pw_name not in grp.getgrnam(CLASS_GROUP).gr_mem:
        said = f"The account {account.pw_name} of this machine is not one of the class: take another name."
        error = HTTPError(403, said)
        error.jupyterhub_message = said  # type: ignore[attr-defined] # what JupyterHub shows on its page
        raise error


check_machine()
STATE.mkdir(mode=0o700, parents=True, exist_ok=True)
STATE.chmod(0o700)
subprocess.run(["groupadd", "--force", "--system", CLASS_GROUP], check=True)

c = get_config()  # type: ignore[name-defined]  # noqa: F821 - JupyterHub defines it where it reads this file
c.JupyterHub.cookie_secret_file = str(STATE / "cookie_secret")
c.JupyterHub.db_url = f"sqlite:///{STATE / 'jupyterhub.sqlite'}"
if PROXY.exists():
    c.ConfigurableHTTPProxy.command = [str(PROXY)]
c.ConfigurableHTTPProxy.pid_file = str(STATE / "proxy.pid")

# For a trial, everybody who knows one password may log in, under any name. README.md says what that does
# not protect, and how your institution's login takes its place.
c.JupyterHub.authenticator_class = SharedPasswordWithAccounts
c.SharedPasswordAuthenticator.user_password = kept_secret("class-password", 6)
c.SharedPasswordAuthenticator.admin_password = kept_secret("instructor-password", 16)
c.Authenticator.allow_all = True
c.Authenticator.admin_users = {INSTRUCTOR}
c.Authenticator.username_pattern = r"[a-z][a-z0-9-]{0,19}"  # what an account may be called

# Each has an account of the system of their own, with a home that nobody else can look into.
c.LocalAuthenticator.create_system_users = True
c.LocalAuthenticator.add_user_cmd = ["useradd", "--create-home", "--key", "HOME_MODE=0700"]
c.LocalAuthenticator.add_user_cmd += ["--shell", "/bin/bash", "--groups", CLASS_GROUP]
c.Spawner.pre_spawn_hook = refuse_other_accounts

# Each server brings its student's copy of the lessons up to date, as the student, and then is Jupyter.
server = [sys.executable, str(COURSE / "hub/student.py")]
c.Spawner.notebook_dir = "~"
c.Spawner.start_timeout = c.Spawner.http_timeout = 180  # a whole class starts within the same minute
c.Spawner.environment = {
    "MHA_LANGUAGE": os.environ.get("MHA_LANGUAGE", ""),
    "MHA_INSTRUCTOR": lambda spawner: "yes" if spawner.user.admin else "",
    "OMP_WAIT_POLICY": "PASSIVE",  # threads that wait by spinning would take the cores from other students
    "OMP_NUM_THREADS": str(CORES),
}
if Path("/run/systemd/system").is_dir():
    # Untried. The whole of a student's processes is limited together, by cgroups, and ended together.
    c.JupyterHub.spawner_class = "systemdspawner.SystemdSpawner"
    c.Spawner.cmd = server
    c.Spawner.mem_limit = MEMORY
    c.Spawner.cpu_limit = CORES
    c.SystemdSpawner.isolate_tmp = True
    c.SystemdSpawner.isolate_devices = True
    c.SystemdSpawner.disable_user_sudo = True
    c.SystemdSpawner.default_shell = "/bin/bash"
    c.SystemdSpawner.unit_extra_properties = {"TasksMax": str(PROCESSES), "LimitFSIZE": str(DISK)}
else:
    # The limits that every Linux has: memory and size of a file for each process, processes for each
    # student. Where the machine's memory ends all the same, the kernel ends a student's process, not the hub.
    limits = [f"--data={MEMORY}", f"--fsize={DISK}", f"--nproc={PROCESSES}", "--core=0"]
    c.JupyterHub.spawner_class = "jupyterhub.spawner.LocalProcessSpawner"
    c.Spawner.cmd = ["nice", "-n", "5", "choom", "-n", "500", "--", "prlimit", *limits, *server]

# A server that nobody uses ends after two hours; what stands in its student's home stays.
c.JupyterHub.services = [
    {
        "name": "idle-culler",
        "command": [sys.executable, "-m", "jupyterhub_idle_culler", "--timeout=7200", "--cull-every=300"],
    }
]
c.JupyterHub.load_roles = [
    {
        "name": "idle-culler",
        "services": ["idle-culler"],
        "scopes": ["list:users", "read:users:activity", "read:servers", "delete:servers"],
    }
]

if SETTINGS.exists():
    load_subconfig(str(SETTINGS))  # type: ignore[name-defined]  # noqa: F821 - as get_config
if c.JupyterHub.authenticator_class is SharedPasswordWithAccounts:
    print(
        f"A trial: log in with {c.SharedPasswordAuthenticator.user_password} and a name of your own, "
        f"{INSTRUCTOR} with the password in {STATE / 'instructor-password'}.",
        flush=True,
    )
