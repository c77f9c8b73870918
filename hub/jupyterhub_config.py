"""JupyterHub for a class, on one Linux machine: ``make hub`` starts it. hub/README.md says how it is used.

Each student has a container, made by Docker or podman from the image of ``hub/Dockerfile``. Nothing is
edited here: settings of your own stand in ``/etc/mha-hub.py``, which is read last and may change all of it.
"""

import os
import secrets
import subprocess
import sys
from contextlib import suppress
from ipaddress import IPv4Network
from pathlib import Path
from typing import Any

import docker
from docker.errors import APIError, NotFound
from docker.types import IPAMConfig, IPAMPool, LogConfig, Ulimit
from dockerspawner import DockerSpawner
from jupyterhub import orm
from jupyterhub.authenticators.shared import SharedPasswordAuthenticator
from jupyterhub.spawner import SpawnException
from sqlalchemy import event
from traitlets import Unicode

COURSE = Path(__file__).resolve().parents[1]
STATE = Path(os.environ.get("MHA_HUB_STATE", "/var/lib/mha-hub"))  # database, cookie secret, passwords
SETTINGS = Path(os.environ.get("MHA_HUB_SETTINGS", "/etc/mha-hub.py"))
PROXY = COURSE / ".venv/hub/node_modules/.bin/configurable-http-proxy"  # where make installs it
PODMAN, DOCKER = Path("/run/podman/podman.sock"), Path("/var/run/docker.sock")
PROXY_USER = 10002  # no account of the machine has this number
MEMORY = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 1e9  # of this machine, in GB
OF_SYSTEM, OF_STUDENT = 4, 1.33  # GB: what no student gets, and the most that one took in lesson 03
STARTS_PER_CORE = 5  # at once; on 2 cores 10 servers took 146 s to start, and start_timeout is 180 s
LIMITS = {"core": 0, "nofile": 4096, "nproc": 32768}  # nproc counts the processes of all students together
# Reject what comes from a container unless it asks the hub or answers it, and what the network asks the hub
# past the proxy. Containers find no way to each other, to other services of this machine, or out of it.
WALL = """
table inet {name} {{}}
delete table inet {name}
table inet {name} {{
  chain input {{
    type filter hook input priority -10
    ip saddr {subnets} tcp dport {port} accept
    ip saddr {subnets} ct state established,related accept
    ip saddr {subnets} reject
    iifname != "lo" tcp dport {port} reject
  }}
  chain forward {{
    type filter hook forward priority -10
    ip saddr {subnets} reject
    ip daddr {subnets} reject
  }}
}}
"""


class NoWall(SpawnException):
    jupyterhub_message = (  # the page shows it
        "This server is not started: the firewall rules that keep students away from the hub's machine are "
        "gone or changed, as after a restart of nftables. The way out, for your instructor: restart the hub, "
        "by sudo systemctl restart mha-hub, or end it and run sudo make hub again."
    )

    def __init__(self) -> None:
        super().__init__(self.jupyterhub_message, reason="no wall", status_code=503)


class ClassSpawner(DockerSpawner):
    """Start each student's container in a network of its own, which has no way out."""

    subnets = Unicode("10.200.0.0/16", help="Each network takes eight of these addresses.").tag(config=True)

    def template_namespace(self) -> dict[str, Any]:
        role = "-instructor" if self.user.admin else ""
        return super().template_namespace() | {"role": role, "image": self.image}

    async def start(self) -> tuple[str, int]:
        if listed_wall() != standing_wall:
            raise NoWall
        self.network_name = self.container_name
        all_of_them = IPv4Network(self.subnets)
        first = all_of_them[self.user.id * 8 % all_of_them.num_addresses]
        subnet = IPv4Network(f"{first}/29")
        try:
            await self.docker("inspect_network", self.network_name)
        except NotFound:
            pool = IPAMConfig(pool_configs=[IPAMPool(subnet=str(subnet), gateway=str(subnet[1]))])
            await self.docker("create_network", self.network_name, driver="bridge", ipam=pool, internal=True)
        self.hub_connect_url = f"http://{subnet[1]}:{self.hub.port}"
        return await super().start()

    async def stop(self, now: bool = False) -> None:
        await super().stop(now)
        network = self.container_name  # a hub that has started since does not know self.network_name
        try:
            await self.docker("remove_network", network)
        except APIError as error:  # the next start takes it again
            self.log.warning("The network %s stays: %s", network, error)


def listed_wall() -> str:
    """The rules of the wall that the kernel has now; "" where there are none."""
    command = ["nft", "list", "table", "inet", f"mha_hub_{c.JupyterHub.hub_port}"]
    return subprocess.run(command, capture_output=True, text=True).stdout


@event.listens_for(orm.User.admin, "set", active_history=True)
def forget_former_logins(user: orm.User, admin: bool, before: Any, _initiator: object) -> None:
    """Whoever used a name before it became an instructor's is logged out, and loses tokens and server."""
    if admin and before is False:
        user.cookie_id = orm.new_token()
        user.api_tokens.clear()
        user.oauth_codes.clear()
        for spawner in user.orm_spawners.values():
            if container := (spawner.state or {}).get("object_id"):
                with suppress(NotFound):
                    docker.from_env().api.remove_container(container, force=True)


def confined(spawner: DockerSpawner) -> dict[str, Any]:
    """The limits to which the engine holds each container."""
    return {
        "read_only": True,
        "tmpfs": {"/tmp": "rw,nosuid,nodev,size=256m,mode=1777"},
        "shm_size": "256m",
        "memswap_limit": spawner.mem_limit,  # no swap beside the memory
        "pids_limit": 512,
        "cap_drop": ["ALL"],
        "security_opt": ["no-new-privileges"],
        # Said, since podman's own defaults are more than a small machine may give.
        "ulimits": [Ulimit(name=name, soft=most, hard=most) for name, most in LIMITS.items()],
        # The wall knows IPv4 alone.
        "sysctls": {"net.ipv6.conf.all.disable_ipv6": "1"} if Path("/proc/sys/net/ipv6").exists() else {},
        "log_config": LogConfig(type="json-file", config={"max-size": "10m"}),
    }


def kept_secret(name: str, size: int) -> str:
    """A password, made at the first start; root alone reads it."""
    file = STATE / name
    if not file.exists():
        file.touch(mode=0o600)
        file.write_text(f"{secrets.token_hex(size)}\n")
    return file.read_text().strip()


STATE.mkdir(mode=0o700, parents=True, exist_ok=True)
STATE.chmod(0o700)
if PODMAN.exists() and not DOCKER.exists():
    os.environ.setdefault("DOCKER_HOST", f"unix://{PODMAN}")

c = get_config()  # type: ignore[name-defined]  # noqa: F821 - JupyterHub defines it where it reads this file
c.JupyterHub.cookie_secret_file = str(STATE / "cookie_secret")
c.JupyterHub.db_url = f"sqlite:///{STATE / 'jupyterhub.sqlite'}"
c.JupyterHub.bind_url = "http://127.0.0.1:8000"
# Each student's pages have an origin of their own (ann.localhost): otherwise a page that one student writes
# could use the login of another who opens it.
c.JupyterHub.subdomain_host = "http://localhost:8000"
c.JupyterHub.hub_ip = "0.0.0.0"  # behind the wall above
c.JupyterHub.hub_connect_ip = "127.0.0.1"  # for the proxy; containers have addresses of their own
c.JupyterHub.hub_port = 8081
c.JupyterHub.cleanup_servers = False  # a hub that starts again finds the servers of its students
c.JupyterHub.active_server_limit = most_students = max(1, int((MEMORY - OF_SYSTEM) / OF_STUDENT))
c.JupyterHub.concurrent_spawn_limit = STARTS_PER_CORE * (os.cpu_count() or 1)
as_nobody = ["setpriv", f"--reuid={PROXY_USER}", f"--regid={PROXY_USER}", "--clear-groups", "--no-new-privs"]
c.ConfigurableHTTPProxy.command = [*as_nobody, str(PROXY) if PROXY.exists() else PROXY.name]
c.ConfigurableHTTPProxy.pid_file = str(STATE / "proxy.pid")

# For a trial, everybody who knows one password may log in, under any name. README.md says what that does
# not protect, and how your institution's login takes its place.
c.JupyterHub.authenticator_class = SharedPasswordAuthenticator
c.SharedPasswordAuthenticator.user_password = kept_secret("class-password", 6)
c.SharedPasswordAuthenticator.admin_password = kept_secret("instructor-password", 16)
c.SharedPasswordAuthenticator.allow_all = True  # and no other login
# DockerSpawner escapes names with control characters so that two of them could share a volume.
c.Authenticator.username_pattern = r"\A[^\x00-\x1f]+\Z"
c.SharedPasswordAuthenticator.username_pattern = r"\A[a-z][a-z0-9-]{0,19}\Z"

c.JupyterHub.spawner_class = ClassSpawner
c.DockerSpawner.image = "localhost/mha"
c.DockerSpawner.extra_create_kwargs = {"image": "{image}{role}"}  # an instructor's has notes and solutions
c.DockerSpawner.pull_policy = "never"
c.DockerSpawner.prefix = "mha"
c.DockerSpawner.remove = True  # the volume stays
c.DockerSpawner.use_internal_ip = True
# A volume for each role: files that a student laid in one would run for the instructor they become.
c.DockerSpawner.volumes = {"{prefix}-{username}{role}": "/opt/mha/work"}
c.DockerSpawner.mem_limit = "2G"  # of the whole container, files in /tmp and /dev/shm included
c.DockerSpawner.cpu_limit = 2
c.DockerSpawner.extra_host_config = confined
c.Spawner.start_timeout = c.Spawner.http_timeout = 180  # a whole class starts within the same minute
c.Spawner.environment = {
    "MHA_LANGUAGE": os.environ.get("MHA_LANGUAGE", ""),
    "MHA_INSTRUCTOR": lambda spawner: "yes" if spawner.user.admin else "",
    "OMP_NUM_THREADS": "2",
}

# A server that nobody uses ends after two hours; what stands in its student's volume stays.
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
    about = SETTINGS.stat()
    if about.st_uid != os.geteuid() or about.st_mode & 0o077:
        sys.exit(
            f"{SETTINGS} must belong to root and have mode 600, for the hub runs it as root and it may hold "
            f"passwords; it belongs to user {about.st_uid} and has mode {about.st_mode & 0o777:o}. "
            f"To mend it: sudo chown root {SETTINGS} && sudo chmod 600 {SETTINGS}"
        )
    load_subconfig(str(SETTINGS))  # type: ignore[name-defined]  # noqa: F821 - as get_config
# Cookies that no student's page can replace need HTTPS.
c.JupyterHub.cookie_host_prefix_enabled = c.JupyterHub.subdomain_host.startswith("https://")
subnets = c.ClassSpawner.get("subnets", ClassSpawner.subnets.default_value)
wall = WALL.format(name=f"mha_hub_{c.JupyterHub.hub_port}", subnets=subnets, port=c.JupyterHub.hub_port)
subprocess.run(["nft", "-f", "-"], input=wall, text=True, check=True)
standing_wall = listed_wall()
print(
    f"This machine has {MEMORY:.0f} GB of memory and holds {most_students} students at once: each takes up "
    f"to {OF_STUDENT} GB in lesson 03, and {OF_SYSTEM} GB are left to the system. At most "
    f"{c.JupyterHub.active_server_limit} servers run at once (c.JupyterHub.active_server_limit).",
    flush=True,
)
if c.JupyterHub.authenticator_class is SharedPasswordAuthenticator:
    c.Authenticator.setdefault(
        "admin_users", {"instructor"}
    )  # of no other login: there it may be a student's
    print(
        f"A trial: log in at {c.JupyterHub.subdomain_host} with a name of your own and the password in "
        f"{STATE / 'class-password'}. For instructors: {STATE / 'instructor-password'}.",
        flush=True,
    )
