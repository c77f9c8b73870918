"""Train a translator in front of a class: stop it, look at it, and go on.

``train_translator`` trains one, keeps it under ``work/`` and loads it from then on. ``Training`` is the
training itself, for other losses and other lengths.
"""

import copy
import io
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from mha_lib import EncoderDecoder
from mha_lib.classroom.course import CourseError, find_root
from mha_lib.classroom.course.files import write_whole
from mha_lib.classroom.course.language import words_here
from mha_lib.classroom.tasks.data import PLACES, Batch, draw_training_numbers, make_batch
from mha_lib.classroom.tasks.threads import one_thread
from mha_lib.classroom.tasks.translator import device_of, make_translator, translation_loss

STEPS, BATCH_SIZE, LEARNING_RATE = 1000, 128, 3e-3
SNAPSHOTS = (0, 50, 150, 400)  # steps, and the end
EDITION = 1  # of numbers, model and training: a translator that another edition has kept is trained anew
PARTS = ("model", "optimizer", "scheduler")  # of a training that is kept
BAR_WIDTH, SECONDS_BETWEEN = 30, 0.3  # of the progress bar

Loss = Callable[[EncoderDecoder, Batch], Tensor]


class Training:
    """A training that may have made some of its steps.

    model         the translator; it moves to a GPU if there is one
    loss          a function of the model and a ``Batch``, which the training makes small
    steps         the number of steps; Adam, with a learning rate that rises and falls once (one-cycle)
    batch_size    numbers in each step
    max_digits    of the numbers that are drawn; with fewer digits, training takes seconds
    seed          of the numbers that are drawn
    snapshots_at  the steps after which the model is kept for ``model_at``; the last step is always kept

    ``step`` tells how many steps have been made, ``losses`` holds the loss of each.
    """

    def __init__(
        self,
        model: EncoderDecoder,
        loss: Loss = translation_loss,
        *,
        steps: int = STEPS,
        batch_size: int = BATCH_SIZE,
        max_digits: int = PLACES,
        seed: int = 0,
        snapshots_at: Iterable[int] = SNAPSHOTS,
    ):
        self.model = model.to("cuda" if torch.cuda.is_available() else "cpu").eval()
        self.loss, self.steps, self.batch_size, self.max_digits = loss, steps, batch_size, max_digits
        self.snapshots_at = {*snapshots_at, steps}
        self.generator = torch.Generator().manual_seed(seed)
        self.optimizer = torch.optim.Adam(model.parameters(), betas=(0.9, 0.98))
        self.scheduler = torch.optim.lr_scheduler.OneCycleLR(self.optimizer, LEARNING_RATE, total_steps=steps)
        self.losses: list[float] = []
        self.snapshots: dict[int, dict[str, Tensor]] = {}
        self.keep_snapshot()

    @property
    def step(self) -> int:
        return self.scheduler.last_epoch

    @one_thread()
    def run(self, until: int | None = None, *, show_progress: bool = True) -> "Training":
        """Make the steps that are left, or those up to ``until``; return the training itself.

        An interrupt ends it early. The model keeps what it has learnt, and another ``run`` goes on.
        """
        until = self.steps if until is None else min(until, self.steps)
        bar = ProgressBar(self.step, self.steps, is_shown=show_progress)
        del self.losses[self.step :]  # an interrupted step may have left its loss
        self.model.train()
        try:
            while self.step < until:
                self.make_step()
                bar.show(self.step, self.losses[-1])
        except KeyboardInterrupt:
            bar.say("interrupted", self.step)
        else:
            bar.say("trained", self.step)
        finally:
            self.model.eval()
        return self

    def make_step(self) -> None:
        numbers = draw_training_numbers(self.batch_size, self.generator, self.max_digits)
        loss = self.loss(self.model, make_batch(numbers.tolist(), device_of(self.model)))
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.losses.append(loss.item())
        self.scheduler.step()  # last, because it counts the steps and an interrupted one must not count
        self.keep_snapshot()

    def keep_snapshot(self) -> None:
        if self.step in self.snapshots_at:
            state = self.model.state_dict()
            self.snapshots[self.step] = {name: x.detach().cpu().clone() for name, x in state.items()}

    def model_at(self, step: int) -> EncoderDecoder:
        """A copy of the model as it was after so many steps."""
        if step not in self.snapshots:
            known = ", ".join(map(str, sorted(self.snapshots)))
            raise ValueError(f"step must be one that was remembered: {known}; got {step}")
        model = copy.deepcopy(self.model)
        model.load_state_dict(self.snapshots[step])
        return model.eval()

    def state_dict(self) -> dict[str, Any]:
        """All that it takes to go on later, in what ``torch.load`` reads with ``weights_only=True``."""
        parts = {name: getattr(self, name).state_dict() for name in PARTS}
        generator = self.generator.get_state()
        return parts | {"generator": generator, "losses": self.losses, "snapshots": self.snapshots}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        for name in PARTS:
            getattr(self, name).load_state_dict(state[name])
        self.generator.set_state(state["generator"])
        self.losses, self.snapshots = list(state["losses"]), dict(state["snapshots"])
        for step in self.snapshots:
            self.model_at(step)


class ProgressBar:
    """A line of plain text that is overwritten: in JupyterLab, in a deck and in a terminal."""

    def __init__(self, start: int, steps: int, is_shown: bool):
        self.start, self.steps, self.is_shown = start, steps, is_shown
        self.words = words_here()["training"]
        self.started, self.shown, self.width = time.monotonic(), 0.0, 0

    def show(self, step: int, loss: float) -> None:
        now = time.monotonic()
        if now - self.shown < SECONDS_BETWEEN or step == self.start + 1:
            return
        self.shown = now
        left = (now - self.started) / (step - self.start) * (self.steps - step)
        done = "█" * (BAR_WIDTH * step // self.steps)
        said = self.words["progress"].format(step=step, steps=self.steps, loss=loss, seconds=f"{left:.0f}")
        self.write(f"{done:░<{BAR_WIDTH}} {said}")

    def say(self, name: str, step: int) -> None:
        """Write the last line, which stays."""
        seconds = f"{time.monotonic() - self.started:.0f}"
        self.write(self.words[name].format(seconds=seconds, step=step, steps=self.steps), end="\n")

    def write(self, line: str, end: str = "") -> None:
        if self.is_shown:
            print("\r" + line.ljust(self.width), end=end, flush=True)
            self.width = len(line)


def train_translator(num_heads: int = 4, seed: int = 0, folder: Path | str | None = None) -> Training:
    """Load a trained translator if it has been trained before; otherwise train it now and keep it.

    It is kept in ``folder``, ``work/`` of the course unless said otherwise. An interrupted training is kept
    too, and the next call goes on. A file without this training is reported, and the translator trained anew.
    """
    file = Path(folder or place_to_keep()) / f"translator-{num_heads}-heads-seed-{seed}.pt"
    recipe = {"edition": EDITION, "num_heads": num_heads, "seed": seed}
    training = (load_training(file, recipe) if file.exists() else None) or new_training(recipe)
    if training.step < training.steps:
        training.run()
        save_training(training, file, recipe)
    return training


def place_to_keep() -> Path:
    """Return ``work/`` of the course, or one beside a lesson that lies in no course, as in Colab."""
    try:
        return find_root() / "work"
    except CourseError:
        return Path.cwd() / "work"


def new_training(recipe: dict[str, int]) -> Training:
    return Training(make_translator(recipe["num_heads"], recipe["seed"]), seed=recipe["seed"])


def load_training(file: Path, recipe: dict[str, int]) -> Training | None:
    """Load the training from the file; if it holds none of this recipe, say so and return None."""
    training = new_training(recipe)
    try:
        kept = torch.load(file, map_location="cpu", weights_only=True)
        if kept["recipe"] != recipe:
            raise ValueError("another recipe")
        training.load_state_dict(kept)
    except Exception:  # a damaged file can fail in any way
        print(words_here()["training"]["unreadable"].format(file=file))
        return None
    return training


def save_training(training: Training, file: Path, recipe: dict[str, int]) -> None:
    data = io.BytesIO()
    torch.save(training.state_dict() | {"recipe": recipe}, data)
    try:
        write_whole(file, data.getvalue())
    except OSError as reason:
        print(words_here()["training"]["not_kept"].format(file=file, reason=reason))
