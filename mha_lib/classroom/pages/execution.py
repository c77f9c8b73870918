"""Runs a lesson's cells afresh, in a kernel of its own."""

import asyncio
import atexit
import os
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any, TypeVar, TypeVarTuple, Unpack

from jupyter_client.kernelspec import KernelSpecManager, NoSuchKernel
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, DeadKernelError
from nbformat import NotebookNode

from mha_lib.classroom.lesson import CourseError
from mha_lib.classroom.lesson.outputs import FOR_A_PAGE
from mha_lib.classroom.pages.build import Progress

LONGEST_CELL = 600  # seconds
CORES = os.cpu_count() or 1
Result = TypeVar("Result")
Arguments = TypeVarTuple("Arguments")


async def execute(notebook: NotebookNode, lesson: Path, kernels_at_once: int, progress: Progress) -> None:
    """Run the notebook's cells in the lesson's folder; their outputs and widgets are stored in it.

    nbconvert's ExecutePreprocessor is this client too, but it runs one notebook at a time, and gives its
    kernel no environment of its own.
    """
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    if not code:  # words alone need no kernel
        return

    def begun(cell: NotebookNode, cell_index: int) -> None:
        if cell.cell_type == "code":
            progress.show(f"{lesson.stem}: {cell.get('id', '')}")

    client = NotebookClient(
        notebook,
        resources={"metadata": {"path": str(lesson.parent)}},
        timeout=LONGEST_CELL,
        shutdown_kernel="immediate",  # a kernel that is asked to end amid a cell prints twenty lines
        extra_arguments=["--log-level=40"],  # the kernel's messages would tear the line of progress
        on_cell_start=begun,
    )
    try:
        own = {
            FOR_A_PAGE: "1",
            "PYTHONSAFEPATH": "1",
        }  # a kernel that starts imports no file beside the lesson
        await client.async_execute(env=threads_of_kernels(kernels_at_once) | own | os.environ)
    except CellExecutionError as error:
        failed = [cell.get("id", "?") for cell in code if any(o.output_type == "error" for o in cell.outputs)]
        reason = f"{error.ename}: {error.evalue}".splitlines()[0]
        raise CourseError("cell_failed", lesson=lesson, cell=["?", *failed][-1], reason=reason) from None
    except DeadKernelError:
        if (task := asyncio.current_task()) and task.cancelling():  # it was Ctrl-C that ended the kernel
            raise asyncio.CancelledError from None
        raise CourseError("kernel_died", lesson=lesson) from None
    except NoSuchKernel as error:
        known = ", ".join(KernelSpecManager().find_kernel_specs())
        raise CourseError("no_kernel", lesson=lesson, kernel=error.name, known=known) from None
    finally:
        # Interrupted twice, nbclient forgets to take this back. At the end of Python it would find no kernel.
        if client.km is None:
            atexit.unregister(client._cleanup_kernel)


def threads_of_kernels(kernels_at_once: int) -> dict[str, str]:
    """The environment of a kernel beside others: their threads share the cores, and wait without spinning.

    On a machine that is busy with other work, lesson 03 takes 1 minute with it, and 7 without.
    """
    threads = max(1, CORES // min(CORES, kernels_at_once))
    return {"OMP_WAIT_POLICY": "PASSIVE", "OMP_NUM_THREADS": str(threads)}


def run_until_ctrl_c(work: Coroutine[Any, Any, Result]) -> Result:
    """Like ``asyncio.run``, but Ctrl-C ends the work in order: KeyboardInterrupt comes after every clean-up.

    nbclient handles Ctrl-C itself where the loop lets it, and then only the newest of several notebooks ends.
    """
    with asyncio.Runner(loop_factory=LoopWithoutSignals) as runner:
        return runner.run(work)


class LoopWithoutSignals(asyncio.SelectorEventLoop):
    def add_signal_handler(
        self, sig: int, callback: Callable[[Unpack[Arguments]], object], *args: *Arguments
    ) -> None:
        raise RuntimeError("nbclient does without it, as in a thread")
