"""Judges an answer: runs it on random cases, recognises the usual mistakes, shows the student's own line."""

import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

Answer = Callable[..., Any]
LIBRARY = str(Path(__file__).parents[2])
MARKS = {"right": "✓", "wrong": "✗", "not yet": "○"}


@dataclass(frozen=True)
class Exercise:
    """A right answer, random cases to try it on, and the wrong answers that classes give.

    ``cases`` draws the arguments of one call. ``wrong`` maps a sentence to the code of the mistake that it
    explains: an answer that agrees with that code on every case gets the sentence. Answers are tensors, or
    numbers.
    """

    name: str
    answer: Answer
    cases: Callable[[torch.Generator], tuple]
    wrong: dict[str, Answer] = field(default_factory=dict)
    rounds: int = 5

    def calls(self) -> list[tuple]:
        """The same arguments every time, made anew: an answer that writes into them spoils nothing."""
        generator = torch.Generator().manual_seed(0)
        return [self.cases(generator) for _ in range(self.rounds)]

    def judge(self, given: Answer) -> tuple[str, str]:
        """('right', 'wrong' or 'not yet', the sentence that says why)"""
        if not callable(given):
            return "wrong", f"hand over the function itself, without calling it; this is {describe(given)}."
        wanted = [self.answer(*arguments) for arguments in self.calls()]
        results = []
        for arguments, right in zip(self.calls(), wanted, strict=True):
            try:
                result = given(*arguments)
            except NotImplementedError:
                return "not yet", "not yet: write the function above, then run both cells again."
            except Exception as error:
                return "wrong", f"{where_raised(error)} raised {type(error).__name__}: {error}"
            if result is None or result is ...:
                return "not yet", "not yet: it returns nothing so far; write it, then run both cells again."
            if isinstance(right, Tensor) and not isinstance(result, Tensor):
                return "wrong", f"a tensor is wanted, and this returned {describe(result)}."
            try:
                results.append(torch.as_tensor(result))
            except (TypeError, ValueError, RuntimeError):
                return "wrong", f"a number is wanted, and this returned {describe(result)}."
        return self.compare(results, [torch.as_tensor(right) for right in wanted])

    def compare(self, results: list[Tensor], wanted: list[Tensor]) -> tuple[str, str]:
        if all(map(same, results, wanted)):
            return "right", f"right on {self.rounds} random cases."
        for sentence, mistake in self.wrong.items():
            if all(same(result, mistake(*call)) for result, call in zip(results, self.calls(), strict=True)):
                return "wrong", sentence
        differing = (
            triple for triple in zip(results, wanted, self.calls(), strict=True) if not same(*triple[:2])
        )
        result, right, arguments = next(differing)
        call = ", ".join(map(describe, arguments))
        if result.shape != right.shape:
            return (
                "wrong",
                f"for ({call}) the shape {tuple(right.shape)} is wanted, got {tuple(result.shape)}.",
            )
        where = tuple((~close(result, right)).nonzero()[0].tolist())
        place = f"the entry {list(where)}" if where else "the number"
        return "wrong", (
            f"the values are not right: for ({call}) {place} "
            f"should be {right[where].item():.4g} and is {result[where].item():.4g}."
        )


class Check:
    """One method an exercise; what is solved so far is kept for ``report``."""

    def __init__(self, *exercises: Exercise):
        self._exercises = {exercise.name: exercise for exercise in exercises}
        self._verdicts: dict[str, str] = {}

    def __getattr__(self, name: str) -> Callable[[Answer], None]:
        if name.startswith("_") or name not in self._exercises:
            raise AttributeError(f"there is no exercise {name!r}; there are: {', '.join(self._exercises)}")

        def check_answer(given: Answer) -> None:
            verdict, sentence = self._exercises[name].judge(given)
            if not getattr(given, "__name__", "").endswith("_solution"):  # ours, shown beside the student's
                self._verdicts[name] = verdict
            print(f"{MARKS[verdict]} {name}: {sentence}")

        return check_answer

    def __dir__(self) -> list[str]:
        return [*self._exercises, "report"]

    def report(self) -> None:
        """Which exercises of this session are solved."""
        for name, verdict in self._verdicts.items():
            print(f"{MARKS[verdict]} {name}")
        solved = sum(verdict == "right" for verdict in self._verdicts.values())
        print(f"{solved} of {len(self._verdicts)} solved")


def draw(low: int, high: int, generator: torch.Generator) -> int:
    """A random size from low to high, both possible."""
    return int(torch.randint(low, high + 1, (), generator=generator))


def draw_sizes(generator: torch.Generator, *sizes: int) -> list[int]:
    """The sizes in a random order, so that every axis has another one."""
    return [sizes[place] for place in torch.randperm(len(sizes), generator=generator).tolist()]


def close(result: Tensor, right: Tensor) -> Tensor:
    return torch.isclose(
        result.to(torch.float64), right.to(torch.float64), rtol=1e-4, atol=1e-5, equal_nan=True
    )


def same(result: Any, right: Any) -> bool:
    result, right = torch.as_tensor(result), torch.as_tensor(right)
    return result.shape == right.shape and bool(close(result, right).all())


def describe(value: object) -> str:
    if isinstance(value, Tensor):
        numbers = "" if value.dim() != 1 or value.is_floating_point() else f" {value.tolist()}"
        return f"a tensor {tuple(value.shape)}{numbers}"
    if callable(value):
        return "a function"
    return repr(value) if isinstance(value, int | float | str | dict) else f"a {type(value).__name__}"


def where_raised(error: Exception) -> str:
    """The last line of the student's own that the error passed through."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.line]
    own = [f for f in frames if not f.filename.startswith(LIBRARY) and "site-packages" not in f.filename]
    return f"your line `{own[-1].line}`" if own else "your function"
