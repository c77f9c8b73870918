"""Trainings that are kept: a loop over ``kept_steps`` makes only the steps that it has not made before.

The models, optimizers and generators that the loop changes are kept in ``work/trainings/``, in a file for
each training. ``fingerprint.py`` says which training is the same one.
"""

import io
import os
import re
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from copy import deepcopy
from pathlib import Path
from typing import Any

import torch

from mha_lib.classroom.lesson import CourseError, find_root
from mha_lib.classroom.lesson.files import write_whole
from mha_lib.classroom.lesson.language import words_here
from mha_lib.classroom.lesson.outputs import progress_metadata
from mha_lib.classroom.lesson.shell import Line
from mha_lib.classroom.trainings.fingerprint import NotComparable, fingerprint
from mha_lib.classroom.trainings.threads import one_thread

FOLDER = "trainings"
MOST_BYTES = 50e6  # of all files; those that were used longest ago go first
BAR_WIDTH = 30
SECONDS_BETWEEN = 0.3  # between two lines of progress; a training that is stopped goes on at the last one


def kept_steps(
    steps: int, *parts: Any, folder: Path | str | None = None, show_progress: bool = True
) -> Iterator[int]:
    """Return ``range(steps)`` for a training loop, less the steps that this very training has made before.

    parts   all that the loop changes: models, optimizers, schedules, generators (``torch.default_generator``
            too, where the loop draws from it), lists and dicts
    folder  where it is kept; ``work/trainings/`` of the course unless said otherwise

    A training that was finished gives the parts its last state, and no step is left. One that was stopped
    goes on at the last state that was noted, and ends in the same model to the last bit. A training is
    another one, and begins anew, when the parts, the number of steps, the code of the loop or anything that
    this code uses differs. Each step must set the gradients to zero itself. PyTorch computes with one thread
    meanwhile.
    """
    kept = KeptTraining(steps, parts, show_progress)
    caller = sys._getframe(1)
    try:
        of_training = fingerprint(caller, steps, parts)
    except NotComparable as reason:
        kept.say("not_kept", reason=reason)
    else:
        name = f"{name_of(caller, parts)}-{of_training[:12]}.pt"
        kept.load(Path(folder or place_to_keep()) / name, of_training)
    return kept.steps_left()


def name_of(caller: Any, parts: tuple) -> str:
    """A part of a file's name that says what was trained, and that every system can read."""
    models = [type(part).__name__ for part in parts if isinstance(part, torch.nn.Module)]
    words = re.findall("[A-Za-z0-9]+", "-".join([caller.f_code.co_qualname, *models]))
    return "-".join(words)[:60] or "training"


def place_to_keep() -> Path:
    """Return ``work/trainings/`` of the course, or of a lesson that lies in no course."""
    try:
        return find_root() / "work" / FOLDER
    except CourseError:
        return Path.cwd() / "work" / FOLDER


def forget_trainings() -> None:
    """Remove all trainings that were kept: each begins anew."""
    files = kept_files(place_to_keep())
    for file in files:
        file.unlink(missing_ok=True)
    print(words_here()["training"]["forgotten"].format(count=len(files)))


def kept_files(folder: Path) -> list[Path]:
    """The files of all trainings, the one that was used last first."""
    return sorted(folder.glob("*.pt"), key=lambda file: file.stat().st_mtime, reverse=True)


def state_of(part: Any) -> Any:
    for name in ("state_dict", "get_state"):
        if hasattr(part, name):
            return deepcopy(getattr(part, name)())
    if isinstance(part, (list, dict)):
        return deepcopy(part)
    raise TypeError(
        "kept_steps keeps models, optimizers, schedules (what has state_dict), generators (get_state), lists "
        f"and dicts, got {type(part).__name__}"
    )


def set_state(part: Any, state: Any) -> None:
    for name in ("load_state_dict", "set_state"):
        if hasattr(part, name):
            return getattr(part, name)(state)
    part.clear()
    part.extend(state) if isinstance(part, list) else part.update(state)


class KeptTraining:
    """A training that has made some of its steps, and its file."""

    def __init__(self, steps: int, parts: tuple, show_progress: bool):
        self.steps, self.parts, self.show_progress = steps, parts, show_progress
        self.file: Path | None = None  # set where the training can be recognized
        self.fingerprint = ""
        self.words, self.line = words_here()["training"], Line()
        self.note(0)

    def note(self, step: int) -> None:
        """Note the state after so many steps: amid a step nothing can be kept."""
        self.step, self.states, self.noted = step, [state_of(part) for part in self.parts], time.monotonic()

    def load(self, file: Path, fingerprint: str) -> None:
        """Give the parts the state that the file keeps of this training; from now on it is kept there."""
        self.file, self.fingerprint = file, fingerprint
        try:
            kept = torch.load(file, map_location="cpu", weights_only=True)
            if kept["fingerprint"] != fingerprint:
                raise ValueError("another training")
            self.set_states(kept["states"])
        except (FileNotFoundError, NotADirectoryError):
            return
        except Exception:  # a damaged file can fail in any way
            self.set_states(self.states)
            self.say("unreadable", file=file)
        else:
            self.note(kept["step"])
            with suppress(OSError):
                os.utime(file)  # it was used now

    def set_states(self, states: list) -> None:
        for part, state in zip(self.parts, states, strict=True):
            set_state(part, deepcopy(state))

    def steps_left(self) -> Iterator[int]:
        first, began = self.step, time.monotonic()
        if first >= self.steps:
            return
        try:
            with one_thread():
                for step in range(first, self.steps):
                    now = time.monotonic()
                    if step > first and now - self.noted >= SECONDS_BETWEEN:
                        self.note(step)
                        self.show((now - began) / (step - first) * (self.steps - step))
                    yield step
            self.note(self.steps)
        finally:  # also after an error or an interrupt, or where the loop was left
            self.line.remove()
            if self.step > first:
                self.save()
            if 0 < self.step < self.steps:
                self.say("stopped", step=self.step, steps=self.steps)

    def save(self) -> None:
        if self.file is None:
            return
        data = io.BytesIO()
        torch.save({"fingerprint": self.fingerprint, "step": self.step, "states": self.states}, data)
        try:
            write_whole(self.file, data.getvalue())
            total = 0
            for file in kept_files(self.file.parent):
                total += file.stat().st_size
                if total > MOST_BYTES and file != self.file:
                    file.unlink()
        except OSError as reason:
            self.say("not_kept", reason=reason)
            self.file = None  # said once

    def show(self, seconds: float) -> None:
        """Show how far the training is, and that it takes about so many seconds more."""
        if self.show_progress:
            done = "█" * (BAR_WIDTH * self.step // self.steps)
            said = self.words["progress"].format(step=self.step, steps=self.steps, seconds=f"{seconds:.0f}")
            self.line.write(f"{done:░<{BAR_WIDTH}} {said}", progress_metadata(self.step, self.steps, said))

    def say(self, name: str, **gaps: object) -> None:
        """Say something in a line that stays, in the place of the line of progress."""
        if self.show_progress:
            self.line.remove()
            print(self.words[name].format(**gaps), flush=True)
