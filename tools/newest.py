"""Put the newest versions that pyproject.toml takes into constraints.txt: ``python tools/newest.py``.

pip decides which ones work together with this Python, and installs nothing. ``git diff constraints.txt``
shows them, and ``make test-ci`` says whether the course works with them.
"""

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
CONSTRAINTS = ROOT / "constraints.txt"
EXTRAS = "classroom,hub,models,slides,dev"
OF_GPUS = (
    "nvidia-",
    "cuda-",
    "triton",
)  # what PyTorch's build for GPUs brings, and the one for the CPU lacks


def main() -> None:
    command = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", "install", "--dry-run"]
    command += ["--ignore-installed", "--report", "-", f"{ROOT}[{EXTRAS}]"]
    report = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
    packages = (entry["metadata"] for entry in report["install"])
    newest = {package["name"]: package["version"].partition("+")[0] for package in packages}
    pins = [
        f"{name}=={version}"
        for name, version in newest.items()
        if name != "mha-lib" and not name.startswith(OF_GPUS)
    ]
    comments = [line for line in CONSTRAINTS.read_text(encoding="utf-8").splitlines() if line.startswith("#")]
    CONSTRAINTS.write_text("\n".join([*comments, *sorted(pins, key=str.lower), ""]), encoding="utf-8")


if __name__ == "__main__":
    main()
