"""Work in new processes: heads on two devices, and the memory that one computation needs.

A notebook can show neither by itself: its kernel is a single process, and its peak of memory includes
everything that it has ever done. So some functions of this module run in new processes. These meet in a file
and talk over the computer's own loop, with no network and no port. They always end: with results, with the
first error of any of them, or when their time is over.
"""

import ctypes
import os
import socket
import sys
import tempfile
import time
from collections.abc import Callable
from copy import deepcopy
from datetime import timedelta
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor, multiprocessing

from mha_lib import MultiHeadAttention
from mha_lib.classroom.lesson.language import words_here

DEVICES = 2
SECONDS = 100.0  # loading PyTorch in each process and the work take about ten on a quiet machine
INPUTS, MEETING, RESULT = "inputs.pt", "meeting", "result-{}.pt"
LOOPS = ("lo", "lo0")  # on Linux and on macOS, the interface that never leaves the computer
MALLOC_MMAP_THRESHOLD = -3  # what C's mallopt calls it


class Share(NamedTuple):
    """One device's share of the heads, and its result."""

    output: Tensor  # (B, Q, D), of all heads together
    heads: list[int]
    parameters: int
    sums: int  # all-reduces in a forward pass
    bytes_summed: int  # that this device gives to them


def heads_on_two_devices(layer: MultiHeadAttention, x: Tensor, *, seconds: float = SECONDS) -> list[Share]:
    """Compute ``layer(x)`` in two processes with half of the heads each; return the share of each.

    A process stands for a device, and computes on the CPU. Raises ProcessesFailed if one fails or is slow.
    """
    return run_in_processes(attend_with_a_share, (deepcopy(layer).cpu(), x.cpu()), DEVICES, seconds)


def attend_with_a_share(rank: int, folder: Path, layer: MultiHeadAttention, x: Tensor) -> Share:
    """Compute with some of the heads, as one device; one sum over the devices makes the output whole."""
    from torch import distributed  # imported here: it takes seconds, and nothing else needs it
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.tensor.debug import CommDebugMode

    from mha_lib.parallel import shard_heads

    if not (distributed.is_available() and distributed.is_gloo_available()):
        raise RuntimeError(words_here()["processes"]["no_gloo"])
    if loop := next((name for _, name in socket.if_nameindex() if name in LOOPS), None):
        os.environ.setdefault("GLOO_SOCKET_IFNAME", loop)
    store = distributed.FileStore(str(folder / MEETING), DEVICES)
    limit = timedelta(seconds=SECONDS)
    distributed.init_process_group("gloo", store=store, rank=rank, world_size=DEVICES, timeout=limit)
    part = shard_heads(layer, init_device_mesh("cpu", (DEVICES,)))
    with torch.no_grad(), CommDebugMode() as counted:
        output = part(x).clone()  # clone() waits until the all-reduce has finished
    heads = range(rank * part.num_heads, (rank + 1) * part.num_heads)
    own = sum(p.to_local().numel() for p in part.parameters())  # type: ignore[attr-defined]
    distributed.destroy_process_group()
    sums = counted.get_total_counts()  # each of this device's part of the output
    return Share(output, list(heads), own, sums, sums * output.nbytes)


def peak_memory(lengths: list[int], *, need_weights: bool, seconds: float = SECONDS) -> list[float]:
    """Return how many megabytes one head adds to the peak of memory, for each number of tokens.

    ``lengths`` must ascend. One sample, D = d = 64, forward, without gradients; on a GPU if there is one.
    """
    if torch.cuda.is_available():
        return peaks_of_gpu(lengths, need_weights)
    return run_in_processes(peaks_of_process, (lengths, need_weights), 1, seconds)[0]


def peaks_of_process(rank: int, folder: Path, lengths: list[int], need_weights: bool) -> list[float]:
    """Return the peak after each length, less the memory that the process held before the first one."""
    if sys.platform == "linux":  # it takes back the memory of each tensor: the peak is that of tensors alone
        ctypes.CDLL(None).mallopt(MALLOC_MMAP_THRESHOLD, 65536)
    attend_once(64, need_weights, "cpu")  # PyTorch loads parts of itself at first use
    before, peaks = peak_of_process(), []
    for length in lengths:
        attend_once(length, need_weights, "cpu")
        peaks.append((peak_of_process() - before) / 1e6)
    return peaks


def peaks_of_gpu(lengths: list[int], need_weights: bool) -> list[float]:
    peaks = []
    for length in [64, *lengths]:
        before = torch.cuda.memory_allocated()
        torch.cuda.reset_peak_memory_stats()
        attend_once(length, need_weights, "cuda")
        peaks.append((torch.cuda.max_memory_allocated() - before) / 1e6)
    return peaks[1:]


@torch.no_grad()
def attend_once(length: int, need_weights: bool, device: str) -> None:
    layer = MultiHeadAttention(64, 1, device=device)
    layer(torch.randn(1, length, 64, device=device), need_weights=need_weights)


def peak_of_process() -> int:
    """Return the most memory that this process has ever held, in bytes."""
    if sys.platform == "win32":
        import psutil  # Jupyter's kernel needs it too

        return psutil.Process().memory_info().peak_wset
    import resource

    status = Path("/proc/self/status")
    if status.exists():  # on Linux getrusage also counts the process that started this one
        found = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
        return int(found.split()[1]) * 1024
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


class ProcessesFailed(RuntimeError):
    """A process failed or was too slow; the message quotes the first one that failed."""


def run_in_processes(work: Callable[..., Any], inputs: tuple, count: int, seconds: float) -> list[Any]:
    """Call ``work``, a function of a module, in ``count`` new processes; return all results.

    Its arguments are the number of the process, a folder that all share, and the inputs.
    """
    words, end = words_here()["processes"], time.monotonic() + seconds
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        folder = Path(name)
        torch.save(inputs, folder / INPUTS)
        started = multiprocessing.spawn(work_here, (work, folder), count, join=False, daemon=True)
        try:
            while not started.join(max(0, end - time.monotonic())):
                if time.monotonic() > end:
                    raise ProcessesFailed(words["too_slow"].format(seconds=f"{seconds:g}"))
        except (multiprocessing.ProcessRaisedException, multiprocessing.ProcessExitedException) as error:
            reason = str(error).strip().split("\n")[-1]
            gaps = {"number": error.error_index, "reason": reason}
            raise ProcessesFailed(words["failed"].format(**gaps)) from None
        finally:
            for process in started.processes:
                process.kill()
                process.join()
        return [torch.load(folder / RESULT.format(rank), weights_only=False) for rank in range(count)]


def work_here(rank: int, work: Callable[..., Any], folder: Path) -> None:
    """Do the work of a new process."""
    torch.set_num_threads(1)  # several processes share the cores
    inputs = torch.load(folder / INPUTS, weights_only=False)  # written by the process that started this one
    torch.save(work(rank, folder, *inputs), folder / RESULT.format(rank))
    os._exit(0)  # without Python's own end, which may abort while threads of gloo still run
