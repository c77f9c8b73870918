"""A lesson, executed afresh."""

import os
from pathlib import Path
from typing import Any

from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError
from nbformat import NotebookNode

from mha_lib.classroom.handout.progress import Progress
from mha_lib.classroom.lessons import CourseError

LONGEST_CELL = 600  # seconds
CORES = os.cpu_count() or 1


async def execute(notebook: NotebookNode, lesson: Path, kernels_at_once: int, progress: Progress) -> None:
    """Run the notebook's cells in the lesson's folder; their outputs and widgets are stored in it.

    nbconvert's ExecutePreprocessor is this client too, but it runs one notebook at a time, says nothing
    of how far it is, and gives its kernel no environment of its own.
    """
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    progress.begin_lesson(len(code))

    def begun(cell: NotebookNode, cell_index: int) -> None:
        if cell.cell_type == "code":
            progress.show(f"{lesson.stem}: {cell.get('id', '')}")

    def done(cell: NotebookNode, cell_index: int, execute_reply: Any) -> None:
        progress.end_cell()

    client = NotebookClient(
        notebook,
        resources={"metadata": {"path": str(lesson.parent)}},
        timeout=LONGEST_CELL,
        extra_arguments=["--log-level=40"],  # the kernel's remarks would tear the progress bar
        on_cell_start=begun,
        on_cell_executed=done,
    )
    try:
        await client.async_execute(env=kernel_environment(kernels_at_once))
    except CellExecutionError as error:
        failed = [cell.get("id", "?") for cell in code if any(o.output_type == "error" for o in cell.outputs)]
        reason = f"{error.ename}: {error.evalue}".splitlines()[0]
        raise CourseError("cell_failed", lesson=lesson, cell=failed[-1], reason=reason) from None
    except CellTimeoutError:
        raise CourseError("cell_too_long", lesson=lesson, seconds=LONGEST_CELL) from None
    except DeadKernelError:
        raise CourseError("kernel_died", lesson=lesson) from None


def kernel_environment(kernels_at_once: int) -> dict[str, str]:
    """The environment of a kernel among others: torch's threads share the cores, and wait without spinning.

    On a machine that is busy with something else, lesson 03 takes 1 minute so, and 7 without.
    """
    threads = str(max(1, CORES // min(CORES, kernels_at_once)))
    return {"OMP_WAIT_POLICY": "PASSIVE", "OMP_NUM_THREADS": threads} | os.environ
