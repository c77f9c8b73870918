"""Exercises that check themselves and say in one sentence what went wrong.

An exercise is a right answer, a maker of random cases and the wrong answers that classes give, each as
the code that gives it and the sentence that explains it: an answer that agrees with a wrong one on every
case gets its sentence.

    from mha_lib.classroom.exercises import check

    check.split_heads(my_split_heads)
    check.report()
"""

import traceback
from collections.abc import Callable
from dataclasses import dataclass, field

import torch
from torch import Tensor

from mha_lib import split_heads


@dataclass(frozen=True)
class Exercise:
    """``cases`` draws the arguments of one call from a generator; ``wrong`` maps a sentence to its code."""

    name: str
    answer: Callable[..., Tensor]
    cases: Callable[[torch.Generator], tuple]
    wrong: dict[str, Callable[..., Tensor]] = field(default_factory=dict)
    rounds: int = 5

    def calls(self) -> list[tuple]:
        generator = torch.Generator().manual_seed(0)
        return [self.cases(generator) for _ in range(self.rounds)]

    def judge(self, given: Callable[..., Tensor]) -> tuple[str, str]:
        """('right' | 'wrong' | 'not yet', the sentence that says why)"""
        if not callable(given):
            return "wrong", f"hand over the function itself, without calling it; this is {describe(given)}."
        results = []
        for arguments in self.calls():
            try:
                result = given(*copies(arguments))
            except NotImplementedError:
                return "not yet", "not yet: write the function above, then run both cells again."
            except Exception as error:
                return "wrong", f"{where_raised(error)} raised {type(error).__name__}: {error}"
            if result is None or result is ...:
                return (
                    "not yet",
                    "not yet: the function returns nothing so far; write it, then run both cells again.",
                )
            if not isinstance(result, Tensor):
                return "wrong", f"a tensor is wanted, and this returned {describe(result)}."
            results.append(result)
        return self.compare(results)

    def compare(self, results: list[Tensor]) -> tuple[str, str]:
        wanted = [self.answer(*arguments) for arguments in self.calls()]
        if all(map(same, results, wanted)):
            return "right", f"equal to the library's on {self.rounds} random cases."
        for sentence, mistake in self.wrong.items():
            if all(map(same, results, (mistake(*arguments) for arguments in self.calls()))):
                return "wrong", sentence
        for result, right, arguments in zip(results, wanted, self.calls(), strict=True):
            if same(result, right):
                continue
            call = ", ".join(map(describe, arguments))
            if result.shape != right.shape:
                return (
                    "wrong",
                    f"for ({call}) the shape {tuple(right.shape)} is wanted, got {tuple(result.shape)}.",
                )
            where = tuple((~torch.isclose(result.to(right.dtype), right)).nonzero()[0].tolist())
            return "wrong", (
                f"the shape is right, the values are not: for ({call}) the entry {list(where)} "
                f"should be {right[where].item():.4g} and is {result[where].item():.4g}."
            )
        raise AssertionError("unreachable: some result differs")


class Check:
    """One method an exercise; what is solved so far is kept for ``report``."""

    def __init__(self, *exercises: Exercise):
        self._exercises = {exercise.name: exercise for exercise in exercises}
        self._verdicts: dict[str, str] = {}

    def __getattr__(self, name: str) -> Callable[[Callable[..., Tensor]], None]:
        if name not in self._exercises:
            raise AttributeError(f"there is no exercise {name!r}; there are: {', '.join(self._exercises)}")

        def check_answer(given: Callable[..., Tensor]) -> None:
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


MARKS = {"right": "✓", "wrong": "✗", "not yet": "○"}


def copies(arguments: tuple) -> tuple:
    """So that an answer that writes into its input spoils nothing."""
    return tuple(value.clone() if isinstance(value, Tensor) else value for value in arguments)


def same(a: Tensor, b: Tensor) -> bool:
    return a.shape == b.shape and torch.allclose(a.to(b.dtype), b, rtol=1e-4, atol=1e-5, equal_nan=True)


def describe(value: object) -> str:
    if isinstance(value, Tensor):
        return f"a tensor {tuple(value.shape)}"
    return repr(value) if isinstance(value, int | float | str) else f"a {type(value).__name__}"


def where_raised(error: Exception) -> str:
    """The last line of the student's own that the error passed through."""
    frames = [f for f in traceback.extract_tb(error.__traceback__) if not f.filename.startswith(LIBRARY)]
    frames = [frame for frame in frames if frame.line and "site-packages" not in frame.filename]
    return f"your line `{frames[-1].line}`" if frames else "your function"


LIBRARY = __file__.rsplit("classroom", 1)[0]


def draw(low: int, high: int, generator: torch.Generator) -> int:
    return int(torch.randint(low, high, (), generator=generator))


def split_case(generator: torch.Generator) -> tuple:
    batch, tokens, heads, width = (draw(2, 6, generator) for _ in range(4))
    return torch.randn(batch, tokens, heads * width, generator=generator), heads


check = Check(
    Exercise(
        "split_heads",
        split_heads,
        split_case,
        {
            "the shape is right, but a head now holds pieces of several tokens: cut the last axis into "
            "(num_heads, d) first, then swap the axes of tokens and heads.": (
                lambda x, h: x.reshape(x.shape[0], h, x.shape[1], -1)
            ),
            "the heads are cut, but their axis still stands after the tokens: swap axes 1 and 2.": (
                lambda x, h: x.reshape(*x.shape[:2], h, -1)
            ),
            "the last axis is cut as (d, num_heads), so each head takes every num_heads-th number: "
            "cut it as (num_heads, d).": (lambda x, h: x.reshape(*x.shape[:2], -1, h).permute(0, 3, 1, 2)),
            "this gives the transpose of each head, (B, H, d, N): (B, H, N, d) is wanted.": (
                lambda x, h: split_heads(x, h).transpose(2, 3)
            ),
        },
    ),
)
