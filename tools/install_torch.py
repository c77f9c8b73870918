"""Install PyTorch's build for the CPU where no other is of use. The Makefile runs this before all else.

On Linux PyPI has the build for NVIDIA GPUs, which is 3.1 GB to download. PyTorch's own index has one for the
CPU, of some 200 MB. Without an NVIDIA GPU this script takes it from there, and nothing but it; with one, pip
later takes what PyPI has. ``.venv/bin/python tools/install_torch.py cpu`` (or ``cuda``) decides by hand, and
the variable ``TORCH_INDEX`` names a mirror of that index. Elsewhere PyPI has one build, and there is nothing
to do.
"""

import os
import re
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

INDEX = os.environ.get("TORCH_INDEX") or "https://download.pytorch.org/whl/cpu"
CONSTRAINTS = Path(__file__).parents[1] / "constraints.txt"
LOG = Path(sys.prefix) / "setup.log"
PATIENCE = 5  # seconds that the index has to answer
CPU_SIZE, GPU_SIZE = "some 200 MB", "3.1 GB"  # with the libraries that the build for GPUs needs


def main(wish: str) -> None:
    if wish not in {"", "cpu", "cuda"}:
        sys.exit(f"TORCH={wish} must be cpu or cuda; without it, an NVIDIA GPU is looked for.")
    LOG.unlink(missing_ok=True)
    if sys.platform != "linux":
        if wish:
            print(f"TORCH={wish} changes nothing here: it is for Linux.")
        return
    pinned = pinned_version()
    number, _, build = installed_version().partition("+")
    if number == pinned and (not wish or (build == "cpu") == (wish == "cpu")):
        return
    reason = f"TORCH={wish} asks for it" if wish else ""
    if (wish or ("cuda" if has_gpu() else "cpu")) == "cuda":
        say(
            f"the build for NVIDIA GPUs, up to {GPU_SIZE} to download, because "
            f"{reason or 'nvidia-smi finds one (TORCH=cpu takes the build for the CPU)'}."
        )
        if build == "cpu":  # pip would keep it
            subprocess.run(pip("uninstall", "--quiet", "--yes", "torch"), check=True)
    elif is_offered(f"{pinned}+cpu"):
        reason = reason or "no NVIDIA GPU was found (TORCH=cuda takes the build for GPUs)"
        install_for_cpu(f"{pinned}+cpu", reason)
    else:
        say(
            f"{INDEX} can't be reached, or has no build for this Python, "
            f"so PyPI's is taken: up to {GPU_SIZE} to download."
        )


def say(sentence: str) -> None:
    print("PyTorch:", sentence, flush=True)


def pinned_version() -> str:
    (pinned,) = re.findall(r"^torch==(\S+)$", CONSTRAINTS.read_text(encoding="utf-8"), re.MULTILINE)
    return str(pinned)


def installed_version() -> str:
    try:
        return version("torch")
    except PackageNotFoundError:
        return ""


def has_gpu() -> bool:
    try:
        return not subprocess.run(["nvidia-smi", "-L"], capture_output=True, timeout=30).returncode
    except (OSError, subprocess.TimeoutExpired):
        return False


def pip(*arguments: str) -> list[str]:
    # pip would look for a newer pip in the same index.
    return [sys.executable, "-m", "pip", "--disable-pip-version-check", *arguments]


def is_offered(wanted: str) -> bool:
    """Whether pip finds this version of torch; pip itself asks, with the proxy and certificates it knows."""
    patience = ["--timeout", str(PATIENCE), "--retries", "0"]
    command = pip("index", "versions", "torch", "--index-url", INDEX, *patience)
    try:  # the host may have several addresses, and pip waits for each
        asked = subprocess.run(command, capture_output=True, text=True, timeout=4 * PATIENCE)
    except subprocess.TimeoutExpired:
        return False
    # Without its errors: the Makefile prints the first one in this file.
    lines = [line for line in [*asked.stderr.splitlines(), asked.stdout] if not line.startswith("ERROR: ")]
    LOG.write_text("\n".join(lines), encoding="utf-8")
    available = re.findall(r"^Available versions: (.*)$", asked.stdout, re.MULTILINE)
    return wanted in ", ".join(available).split(", ")


def install_for_cpu(wanted: str, reason: str) -> None:
    """pip knows the size, and prints it when it begins to download."""
    from_index = ["--index-url", INDEX, "--no-deps", "--progress-bar", "off", "--retries", "2"]
    command = pip("install", *from_index, f"torch=={wanted}")
    beginning = re.compile(r"(Downloading|Using cached|Processing) \S+\.whl(?: \((.+)\))?$")
    with (
        LOG.open("a", encoding="utf-8") as log,
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as running,
    ):
        assert running.stdout
        failure = ""
        for line in running.stdout:
            log.write(line)
            if found := beginning.search(line.strip()):
                begun, size = found.groups()
                load = f"{size or CPU_SIZE} to download" if begun == "Downloading" else "from this machine"
                say(f"the build for the CPU, {load}, because {reason}.")
            if line.startswith("ERROR: "):
                failure = failure or line.strip()
    if running.returncode:
        sys.exit(
            f"Set-up failed: {failure} Check the network and run the same command again; TORCH=cuda takes "
            f"the build that PyPI has, up to {GPU_SIZE}. All of it is in {LOG}"
        )


if __name__ == "__main__":
    main(" ".join(sys.argv[1:]))
