"""Judges an answer: runs it on random cases, recognises the usual mistakes, shows the student's own line.

Every sentence that is printed comes from ``words/``, in the language of the folder of the lesson.
"""

import traceback
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from itertools import combinations
from numbers import Real
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import torch
from torch import Tensor, nn

from mha_lib.classroom.course.language import words_here
from mha_lib.classroom.live.exercises.newest_cell import cells_so_far, syntax_error_since
from mha_lib.classroom.live.exercises.record import Record
from mha_lib.classroom.tasks.threads import one_thread

Answer = Callable[..., Any]
Arguments = tuple[Any, ...]
LIBRARY = str(Path(__file__).parents[3])
MARKS = {"right": "✓", "wrong": "✗", "not yet": "○"}


class Said(NamedTuple):
    kind: str  # "right", "wrong" or "not yet"
    sentence: str


class Verdict(Said):
    """What is said about an answer; ``names`` are those of the mistakes in it, for who counts mistakes."""

    names: tuple[str, ...]

    def __new__(cls, kind: str, sentence: str, names: tuple[str, ...] = ()) -> "Verdict":
        verdict = super().__new__(cls, kind, sentence)
        verdict.names = names
        return verdict


@dataclass(frozen=True)
class Exercise:
    """A right answer, random cases to try it on, and the mistakes that classes make.

    ``cases`` draws the arguments of one call. Answers are tensors, or numbers.

    ``mistakes`` maps the name of a mistake to its code, or to several codes that come to the same mistake: an
    answer that agrees with one of them on every case gets the sentence of that name. Two mistakes at once are
    recognised where each is a ``partial`` of the right answer and they replace different keywords of it.

    ``also_right`` maps the name of a remark to an answer that is right as well.
    """

    name: str
    answer: Answer
    cases: Callable[[torch.Generator], Arguments]
    mistakes: Mapping[str, Answer | tuple[Answer, ...]] = field(default_factory=dict)
    also_right: Mapping[str, Answer] = field(default_factory=dict)
    rounds: int = 5

    def calls(self) -> Iterator[Arguments]:
        """The same arguments every time, made anew: an answer that writes into them spoils nothing."""
        generator = torch.Generator().manual_seed(0)
        return (self.cases(generator) for _ in range(self.rounds))

    def judge(self, given: Answer) -> Verdict:
        with one_thread():
            return no_function(given) or self.judge_results(given)

    def judge_results(self, given: Answer) -> Verdict:
        wanted = [self.answer(*call) for call in self.calls()]
        results = []
        for call, right in zip(self.calls(), wanted, strict=True):
            result = run(given, call, right)
            if isinstance(result, Verdict):
                return result
            results.append(result)
        return self.compare(results, [torch.as_tensor(right) for right in wanted])

    def compare(self, results: list[Tensor], wanted: list[Tensor]) -> Verdict:
        if all(map(same, results, wanted)):
            if wanted[0].dtype == torch.bool != results[0].dtype:
                return wrong("boolean_wanted", dtype=results[0].dtype)
            return Verdict("right", say("right", rounds=self.rounds))
        if recognised := self.recognise(results):
            return recognised
        differing = zip(results, wanted, self.calls(), strict=True)
        return next(
            difference(result, right, call) for result, right, call in differing if not same(result, right)
        )

    def recognise(self, results: list[Tensor]) -> Verdict | None:
        for name, answer in self.also_right.items():
            if self.agrees(results, answer):
                remark = sentence_of("remarks", self.name, name)
                return Verdict("right", f"{say('right', rounds=self.rounds)} {remark}")
        for name, mistake in self.single_mistakes():
            if self.agrees(results, mistake):
                return mistaken(self.name, name)
        for names, mistake in self.pairs_of_mistakes():
            if self.agrees(results, mistake):
                return two_mistakes(*(mistaken(self.name, name) for name in names))
        return None

    def single_mistakes(self) -> Iterator[tuple[str, Answer]]:
        for name, codes in self.mistakes.items():
            for code in codes if isinstance(codes, tuple) else (codes,):
                yield name, code

    def pairs_of_mistakes(self) -> Iterator[tuple[tuple[str, str], Answer]]:
        replaced = [
            (name, code.keywords)
            for name, code in self.single_mistakes()
            if isinstance(code, partial) and code.func is self.answer
        ]
        for (name, steps), (other_name, other_steps) in combinations(replaced, 2):
            if not steps.keys() & other_steps.keys():
                yield (name, other_name), partial(self.answer, **steps, **other_steps)

    def agrees(self, results: list[Tensor], answer: Answer) -> bool:
        """Stops at the first case that differs."""
        try:
            return all(
                same(result, answer(*call)) for result, call in zip(results, self.calls(), strict=True)
            )
        except (RuntimeError, ValueError):  # not every two mistakes run together
            return False


class Judged(Protocol):
    """What ``Check`` needs of an exercise: an ``Exercise``, or one that judges in its own way."""

    @property
    def name(self) -> str: ...

    def judge(self, given: Answer) -> Verdict: ...


class Check:
    """One method an exercise; what is solved so far is kept for ``report``.

    ``lessons`` names the lesson of each exercise, for the files that ``report`` writes.
    """

    def __init__(self, *exercises: Judged, lessons: Mapping[str, str] | None = None):
        self._exercises = {exercise.name: exercise for exercise in exercises}
        self._record = Record(lessons or {})
        names = [exercise.name for exercise in exercises]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise ValueError(f"the name of an exercise must be unique over all lessons, got {twice} twice")

    def __getattr__(self, name: str) -> Callable[[Answer], None]:
        if name.startswith("_") or name not in self._exercises:
            raise AttributeError(f"there is no exercise {name!r}; there are: {', '.join(self._exercises)}")

        def check_answer(given: Answer) -> None:
            verdict = self._exercises[name].judge(given)
            if getattr(given, "__name__", "").endswith("_solution"):  # no answer of the student's
                print(say("solution", exercise=name, sentence=verdict.sentence))
                return
            self._record.note(name, verdict.kind, verdict.names)
            print(say("verdict", mark=MARKS[verdict.kind], exercise=name, sentence=verdict.sentence))

        return check_answer

    def __dir__(self) -> list[str]:
        return [*self._exercises, "report", "solved"]

    @property
    def solved(self) -> list[str]:
        """The exercises whose newest answer in this session is right."""
        return [name for name, kind in self._record.newest().items() if kind == "right"]

    def report(self, name: str | None = None, *, folder: str | Path | None = None) -> None:
        """Prints which of the exercises that were checked in this session are solved.

        With your name it also writes that into a small file to hand in: ``check.report("Ada Lovelace")``
        writes ``reports/lesson-03-Ada-Lovelace.report.json`` beside the lesson, and ``check.report("")`` one
        without a name. The file holds, for each exercise, whether it is solved, how often it was checked, and
        which mistakes came up; none of your code. Nothing is sent: you hand the file in.

        A restarted kernel forgets what was checked before; what stands in the file is kept, and
        what is new is added to it. ``folder`` names another folder, which must be there: there no file is
        changed but the one that this session wrote.
        """
        newest = self._record.newest()
        for exercise, kind in newest.items():
            print(f"{MARKS[kind]} {exercise}")
        print(say("solved", solved=len(self.solved), checked=len(newest)))
        if name is not None or folder is not None:
            for sentence in self._record.write("" if name is None else name, folder):
                print(sentence)


def say(name: str, /, **gaps: object) -> str:
    sentence: str = words_here()["checks"][name]
    return sentence.format(**gaps)


def sentence_of(kind: str, exercise: str, name: str) -> str:
    """What is said about a mistake, or a remark: it stands under the exercise's name, or under "shared"."""
    words = words_here()[kind]
    own = words.get(exercise, {})
    sentence: str = own[name] if name in own else words["shared"][name]
    return sentence


def wrong(name: str, /, **gaps: object) -> Verdict:
    return Verdict("wrong", say(name, **gaps), (name,))


def mistaken(exercise: str, name: str, /, **gaps: object) -> Verdict:
    """The verdict on a mistake that was recognised."""
    sentence = sentence_of("mistakes", exercise, name)
    return Verdict("wrong", sentence.format(**gaps) if gaps else sentence, (name,))


def two_mistakes(first: Verdict, second: Verdict) -> Verdict:
    sentence = say("two_mistakes", first=first.sentence, second=second.sentence)
    return Verdict("wrong", sentence, (*first.names, *second.names))


def no_function(given: Answer) -> Verdict | None:
    """The verdict on what is no function, or none that Python could read."""
    if not callable(given):
        return wrong("not_a_function", given=describe(given))
    if error := syntax_error_since(given, cells_so_far()):
        gaps = {"function": given.__name__, "line": error.lineno, "reason": error.msg}
        return Verdict("not yet", say("not_read", **gaps), ("not_read",))
    return None


def result_of(given: Answer, call: Arguments) -> Any:
    """What the answer returns, or the verdict on an answer that raises an error or returns nothing."""
    try:
        result = given(*call)
    except NotImplementedError:
        return Verdict("not yet", say("not_yet"))
    except Exception as error:
        return raised(error)
    if result is None or result is ...:
        return Verdict("not yet", say("returns_nothing"))
    return result


def run(given: Answer, call: Arguments, right: Any) -> Tensor | Verdict:
    """What the answer returns, as a tensor, or the verdict on an answer that returns nothing of the kind."""
    result = result_of(given, call)
    if isinstance(result, Verdict):
        return result
    if isinstance(right, Tensor) and not (isinstance(result, Tensor) or stands_for(result, right.dim())):
        return wrong("tensor_wanted", given=describe(result))
    if isinstance(right, Tensor) and isinstance(result, list | tuple) and not len(result) + right.numel():
        return torch.zeros_like(right)  # an empty list has as many axes as one likes
    try:
        return torch.as_tensor(plain(result))
    except (TypeError, ValueError, RuntimeError):
        return wrong(
            "tensor_wanted" if isinstance(right, Tensor) else "number_wanted", given=describe(result)
        )


def stands_for(result: Any, axes: int) -> bool:
    """A number may stand for a tensor without axes, a list of what stands for a tensor for one axis more."""
    if axes and isinstance(result, list | tuple):
        return all(stands_for(entry, axes - 1) for entry in result)
    return axes == 0 and (isinstance(result, Real) or (isinstance(result, Tensor) and result.dim() == 0))


def plain(result: Any) -> Any:
    """A list of numbers for a list of tensors without axes; everything else as it is."""
    if isinstance(result, list | tuple):
        return [plain(entry.item() if isinstance(entry, Tensor) else entry) for entry in result]
    return result


def raised(error: Exception) -> Verdict:
    """Shows the last line of the student's own that the error passed through."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.line]
    own = [f for f in frames if not f.filename.startswith(LIBRARY) and "site-packages" not in f.filename]
    gaps = {"error": type(error).__name__, "reason": error}
    return wrong("line_raised", line=own[-1].line, **gaps) if own else wrong("function_raised", **gaps)


def difference(result: Tensor, right: Tensor, call: Arguments) -> Verdict:
    """Names the first entry that differs."""
    arguments = say("between").join(map(describe, call))
    if result.shape != right.shape:
        return wrong("wrong_shape", call=arguments, wanted=tuple(right.shape), given=tuple(result.shape))
    where = (~close(result, right)).nonzero()[0].tolist()
    gaps = {
        "call": arguments,
        "wanted": f"{right[tuple(where)].item():.4g}",
        "given": f"{result[tuple(where)].item():.4g}",
    }
    return wrong("wrong_entry", entry=where, **gaps) if where else wrong("wrong_number", **gaps)


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
        return say("tensor", shape=tuple(value.shape)) + numbers
    if isinstance(value, nn.Module):
        return say("model")
    if callable(value):
        return say("function")
    return (
        repr(value)
        if isinstance(value, int | float | str | dict)
        else say("other", type=type(value).__name__)
    )


def draw(low: int, high: int, generator: torch.Generator) -> int:
    """A random size from low to high, both possible."""
    return int(torch.randint(low, high + 1, (), generator=generator))


def draw_sizes(generator: torch.Generator, *sizes: int) -> list[int]:
    """The sizes in a random order, so that every axis has another one."""
    return [sizes[place] for place in torch.randperm(len(sizes), generator=generator).tolist()]
