"""Train a translator in front of a class: stop it, look at it, and go on.

``Training`` is a training of any length and with any loss, ``train_translator`` the one of lessons 05 and 06.
Both are kept, as ``kept.py`` says.
"""

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from mha_lib import EncoderDecoder
from mha_lib.classroom.trainings.kept import kept_steps
from mha_lib.classroom.translator.data import PLACES, Batch, draw_training_numbers, make_batch
from mha_lib.classroom.translator.model import device_of, make_translator, translation_loss

STEPS, BATCH_SIZE, LEARNING_RATE = 1000, 128, 3e-3
SNAPSHOTS = (0, 50, 150, 400)  # steps, and the end
PARTS = ("model", "optimizer", "scheduler")  # of a training that is kept

Loss = Callable[[EncoderDecoder, Batch], Tensor]


class Training:
    """A training that may have made some of its steps.

    model         the translator; it moves to a GPU if there is one
    loss          a function of the model and a ``Batch``, which the training makes small
    steps         the number of steps; Adam, with a learning rate that rises and falls once (one-cycle)
    batch_size    numbers in each step
    max_digits    of the numbers that are drawn; with fewer digits, training takes seconds
    seed          of the numbers that are drawn

    ``step`` tells how many steps have been made, ``losses`` holds the loss of each. After the steps in
    ``SNAPSHOTS`` and the last one the model is kept for ``model_at``.
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
    ):
        self.model = model.to("cuda" if torch.cuda.is_available() else "cpu").eval()
        self.loss = loss
        self.steps, self.batch_size, self.max_digits = steps, batch_size, max_digits
        self.generator = torch.Generator().manual_seed(seed)
        self.optimizer = torch.optim.Adam(model.parameters(), betas=(0.9, 0.98))
        self.scheduler = torch.optim.lr_scheduler.OneCycleLR(self.optimizer, LEARNING_RATE, total_steps=steps)
        self.losses: list[float] = []
        self.snapshots: dict[int, dict[str, Tensor]] = {}
        self.keep_snapshot()

    @property
    def step(self) -> int:
        return self.scheduler.last_epoch

    def run(self, *, show_progress: bool = True, folder: Path | str | None = None) -> "Training":
        """Make the steps that are left; return the training itself.

        It is kept in ``folder``, as ``kept_steps`` says. An interrupt ends it early; the next ``run``, or the
        same training begun anew, goes on.
        """
        del self.losses[self.step :]  # an interrupted step may have left its loss
        self.model.train()
        try:
            for _ in kept_steps(self.steps - self.step, self, folder=folder, show_progress=show_progress):
                self.make_step()
        except KeyboardInterrupt:
            pass  # kept_steps says so
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
        if self.step in (*SNAPSHOTS, self.steps):
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


def train_translator(num_heads: int = 4, seed: int = 0, folder: Path | str | None = None) -> Training:
    """Load a trained translator if it has been trained before; otherwise train it now and keep it."""
    return Training(make_translator(num_heads, seed), seed=seed).run(folder=folder)
