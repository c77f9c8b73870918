"""Small exercises: a number or a line, written in the place of ``...`` into the cell that checks it.

A handout judges those that ask for a number in the page, by what ``in_page`` tells.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import torch

from mha_lib.classroom.exercises.judge import Judged, Verdict, describe, plain, say, wrong


@dataclass(frozen=True)
class Small(Judged):
    """A value that is right, and the values to which slips lead.

    answer    the right value, a number or a tensor; a list of numbers counts as a tensor
    mistakes  for the name of each slip the value that it gives
    within    how far a value may be off
    also      other right values
    """

    answer: Any
    mistakes: Mapping[str, Any] = field(default_factory=dict)
    within: float = 1e-4
    also: tuple[float, ...] = ()

    def judge(self, given: object) -> Verdict:
        if given is None or given is ...:
            return Verdict("not yet", say("nothing_written"))
        try:
            value, wanted = torch.as_tensor(plain(given)).double(), torch.as_tensor(self.answer)
        except (TypeError, ValueError, RuntimeError):
            return wrong("number_wanted", given=describe(given))
        if any(self.agrees(value, right) for right in (self.answer, *self.also)):
            return self.solved("right")
        slips = (name for name, slip in self.mistakes.items() if self.agrees(value, slip))
        name = next(slips, None)
        if name:
            return self.mistaken(name)
        if value.shape != wanted.shape:
            if not wanted.dim():
                return wrong("number_wanted", given=describe(given))
            return wrong("wrong_length", wanted=len(wanted), given=tuple(value.shape))
        return wrong("another_value", given=torch.round(value, decimals=4).tolist())

    def agrees(self, value: torch.Tensor, wanted: Any) -> bool:
        wanted = torch.as_tensor(wanted).double()
        return value.shape == wanted.shape and bool(((value - wanted).abs() <= self.within).all())

    def in_page(self, words: Mapping[str, Any]) -> dict[str, Any] | None:
        """What a page needs to judge a number, in words of its language; None where none is asked for."""
        if torch.as_tensor(self.answer).dim():
            return None
        sentences = words["mistakes"].get(self.name, {})
        return {
            "right": [float(right) for right in (self.answer, *self.also)],
            "within": self.within,
            "praise": words["remarks"][self.name]["right"],
            "slips": [[float(slip), sentences[name]] for name, slip in self.mistakes.items()],
        }
