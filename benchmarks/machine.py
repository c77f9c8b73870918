"""Describe the machine that runs the measurements."""

import os
import platform
from pathlib import Path

import torch


def describe_machine(device: str) -> list[str]:
    cpuinfo = Path("/proc/cpuinfo")
    models = (
        [line for line in cpuinfo.read_text().splitlines() if "model name" in line]
        if cpuinfo.exists()
        else []
    )
    processor = models[0].split(":")[1].strip() if models else platform.processor() or platform.machine()
    lines = [
        f"Machine: {processor}, {os.cpu_count()} cores, PyTorch on {torch.get_num_threads()} threads, "
        f"{platform.system()} {platform.release()}.",
        f"Versions: Python {platform.python_version()}, PyTorch {torch.__version__}.",
    ]
    if device == "cuda":
        lines.append(f"GPU: {torch.cuda.get_device_name()}, CUDA {torch.version.cuda}.")
    if hasattr(os, "getloadavg"):
        load, alone = os.getloadavg()[1], torch.get_num_threads()
        lines.append(f"Load over the last 5 minutes: {load:.1f}; this benchmark alone makes about {alone}.")
    return lines
