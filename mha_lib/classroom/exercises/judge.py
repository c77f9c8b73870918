"""Judges an answer: runs it on random cases, recognises the usual mistakes, shows the student's own line.

Every sentence comes from ``words/``, in the language of the folder in which the lesson lies.
"""

import inspect
import io
import re
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import redirect_stdout
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain, combinations
from numbers import Real
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from mha_lib.classroom.exercises.on_the_way import Answer, Arguments, is_own
from mha_lib.classroom.lesson.language import words_here
from mha_lib.classroom.trainings.threads import one_thread

Steps = Mapping[str, Any]  # keywords of the right answer, each a step that a mistake replaces
Mistake = Steps | Answer
Rule = Callable[[Answer, Arguments], bool]  # whether an answer breaks it
MOST_PRINTED = 100_000  # characters that an answer may print while it is judged


class Draw(torch.Generator):
    """Draws the sizes and tensors of random cases, the same ones every time."""

    def __init__(self) -> None:
        self.manual_seed(0)
        self.round = 0

    def in_turn(self, *kinds: Any) -> Any:
        """Another of these kinds in each round, so that every kind comes up."""
        return kinds[self.round % len(kinds)]

    def number(self, low: int, high: int) -> int:
        """A random size from low to high, both possible."""
        return int(torch.randint(low, high + 1, (), generator=self))

    def sizes(self, *sizes: int) -> tuple[int, ...]:
        """The sizes in a random order, so that every axis has a different one."""
        return tuple(sizes[place] for place in torch.randperm(len(sizes), generator=self).tolist())

    def tensors(self, *shapes: tuple[int, ...]) -> tuple[Tensor, ...]:
        return tuple(torch.randn(shape, generator=self) for shape in shapes)


class PrintsTooMuch(BaseException):
    """Ends an answer that prints without end; no ``except Exception`` of the answer catches it."""


class LimitedPrint(io.TextIOBase):
    """Passes on what an answer prints, up to the limit: a page with millions of lines stalls."""

    def __init__(self) -> None:
        self.out, self.left = sys.stdout, MOST_PRINTED

    def write(self, text: str) -> int:
        self.left -= len(text)
        if self.left < 0:
            raise PrintsTooMuch
        return self.out.write(text)

    def flush(self) -> None:
        self.out.flush()


class Verdict(NamedTuple):
    state: str  # "solved", "wrong" or "not yet"
    sentence: str
    names: tuple[str, ...] = ()  # of the mistakes, which a report counts


@dataclass(frozen=True)
class Judged:
    """The part of an exercise that ``Check`` uses.

    lesson    the name of its lesson's file, without suffix
    hint      the id of the cell that says what helps, on an earlier slide of the lesson
    """

    name: str
    lesson: str = field(default="", kw_only=True)
    hint: str = field(default="", kw_only=True)

    def judge(self, given: Answer) -> Verdict:
        if not callable(given):
            return wrong("not_a_function", given=describe(given))
        try:
            with one_thread(), redirect_stdout(LimitedPrint()):
                return self.judge_function(given)
        except PrintsTooMuch:
            return wrong("prints_too_much", most=MOST_PRINTED)
        except KeyboardInterrupt:
            return Verdict("not yet", say("interrupted"))

    def judge_function(self, given: Answer) -> Verdict:
        raise NotImplementedError

    def solved(self, remark: str, /, **gaps: object) -> Verdict:
        """The verdict on a right answer to an exercise that has its own words of praise."""
        return Verdict("solved", sentence_of("remarks", self.name, remark).format(**gaps))

    def mistaken(self, mistake: str, /, **gaps: object) -> Verdict:
        """The verdict on a mistake that was recognised."""
        sentence = sentence_of("mistakes", self.name, mistake)
        return Verdict("wrong", sentence.format(**gaps) if gaps else sentence, (mistake,))


@dataclass(frozen=True)
class Exercise(Judged):
    """A right answer, random cases to try it on, and the mistakes that classes make.

    ``cases`` draws the arguments of one call. An answer returns a tensor or a number.

    ``mistakes`` maps the name of a mistake to the steps of the right answer that it replaces, or to code of
    its own; several of them make a tuple. An answer that agrees with one of them on every case gets the
    sentence of that name. Two mistakes at once are recognised if they replace different steps.

    ``rules`` maps the name of a mistake to a test of how an answer with right results got them.
    """

    answer: Answer
    cases: Callable[[Draw], Arguments]
    mistakes: Mapping[str, Mistake | tuple[Mistake, ...]] = field(default_factory=dict)
    rules: Mapping[str, Rule] = field(default_factory=dict)
    rounds: int = 5

    def recognising(self, **mistakes: Mistake | tuple[Mistake, ...]) -> "Exercise":
        """The same exercise with these mistakes, each under its name."""
        return replace(self, mistakes=mistakes)

    def calls(self) -> Iterator[Arguments]:
        """The same arguments every time, but new tensors: an answer that writes into them spoils nothing."""
        draw = Draw()
        for draw.round in range(self.rounds):
            yield self.cases(draw)

    def judge_function(self, given: Answer) -> Verdict:
        wanted = [self.answer(*call) for call in self.calls()]
        results, changed = [], None
        for call, fresh, right in zip(self.calls(), self.calls(), wanted, strict=True):
            result = run(given, call, right)
            if isinstance(result, Verdict):
                return result
            results.append(result)
            changed = changed or overwritten(given, call, fresh)
        verdict = self.compare(results, [torch.as_tensor(right) for right in wanted])
        return verdict if verdict.state == "wrong" else changed or self.break_of_a_rule(given) or verdict

    def break_of_a_rule(self, given: Answer) -> Verdict | None:
        """The verdict if a right answer breaks a rule, or fails on the arguments that show it."""
        try:
            broken = [name for name, breaks in self.rules.items() if breaks(given, next(self.calls()))]
        except Exception as error:
            return raised(error)
        return self.mistaken(broken[0]) if broken else None

    def compare(self, results: list[Tensor], wanted: list[Tensor]) -> Verdict:
        if all(map(same, results, wanted)):
            if wanted[0].dtype == torch.bool != results[0].dtype:
                return wrong("boolean_wanted", dtype=results[0].dtype)
            return Verdict("solved", say("right", rounds=self.rounds))
        if all(map(is_only_zeros, results, wanted)):
            return self.mistaken("only_zeros")
        if recognised := self.recognise(results):
            return recognised
        differing = zip(results, wanted, self.calls(), strict=True)
        return next(difference(*case) for case in differing if not same(*case[:2]))

    def recognise(self, results: list[Tensor]) -> Verdict | None:
        for names, mistake in chain(self.single_mistakes(), self.pairs_of_mistakes()):
            if self.agrees(results, mistake):
                return together(*map(self.mistaken, names))
        return None

    def each_mistake(self) -> Iterator[tuple[str, Mistake]]:
        for name, mistakes in self.mistakes.items():
            for mistake in mistakes if isinstance(mistakes, tuple) else (mistakes,):
                yield name, mistake
        yield "only_nan", lambda *call: self.answer(*call) * torch.tensor(torch.nan)

    def single_mistakes(self) -> Iterator[tuple[tuple[str, ...], Answer]]:
        for name, mistake in self.each_mistake():
            yield (name,), mistake if callable(mistake) else partial(self.answer, **mistake)

    def pairs_of_mistakes(self) -> Iterator[tuple[tuple[str, ...], Answer]]:
        replaced = [(name, steps) for name, steps in self.each_mistake() if not callable(steps)]
        for (name, steps), (other_name, other_steps) in combinations(replaced, 2):
            if not steps.keys() & other_steps.keys():
                yield (name, other_name), partial(self.answer, **steps, **other_steps)

    def agrees(self, results: list[Tensor], answer: Answer) -> bool:
        """Whether the answer gives these results; it is not called again after the first that differs."""
        try:
            return all(map(same, results, (answer(*call) for call in self.calls())))
        except (RuntimeError, ValueError, IndexError):  # two mistakes together may not run at all
            return False


def say(name: str, /, **gaps: object) -> str:
    sentence: str = words_here()["checks"][name]
    return sentence.format(**gaps)


def sentence_of(kind: str, exercise: str, name: str) -> str:
    """The sentence of a mistake or remark: the exercise's own, or else the one that all exercises share."""
    words = words_here()[kind]
    own = words.get(exercise, {})
    sentence: str = own[name] if name in own else words["shared"][name]
    return sentence


def wrong(name: str, /, **gaps: object) -> Verdict:
    return Verdict("wrong", say(name, **gaps), (name,))


def together(first: Verdict, second: Verdict | None = None) -> Verdict:
    """The verdict on an answer with one mistake or two."""
    if second is None:
        return first
    sentence = say("two_mistakes", first=first.sentence, second=second.sentence)
    return Verdict("wrong", sentence, first.names + second.names)


def result_of(given: Answer, call: Arguments) -> Any:
    """The result of the answer, or a verdict if it raises an error or returns nothing."""
    try:
        result = given(*call)
    except Exception as error:
        is_stub = isinstance(error, NotImplementedError) and "implemented for" not in str(error)  # PyTorch's
        return Verdict("not yet", say("not_yet")) if is_stub else raised(error)
    if result is None and "print" in getattr(getattr(given, "__code__", None), "co_names", ()):
        return wrong("printed")
    if result is None or result is ...:
        return Verdict("not yet", say("returns_nothing"))
    return result


def run(given: Answer, call: Arguments, right: Any) -> Tensor | Verdict:
    """The result of the answer as a tensor, or a verdict if it cannot be one."""
    result = result_of(given, call)
    if isinstance(result, Verdict):
        return result
    wanted = "tensor_wanted" if isinstance(right, Tensor) else "number_wanted"
    if isinstance(right, Tensor) and not isinstance(result, Tensor):
        if not stands_for(result, right.dim()):
            return wrong(wanted, given=describe(result))
        if right.dim() and not len(result) + right.numel():
            return torch.zeros_like(right)  # an empty list may have any number of axes
    try:
        return torch.as_tensor(plain(result))
    except (TypeError, ValueError, RuntimeError):
        return wrong(wanted, given=describe(result))


def stands_for(result: Any, axes: int) -> bool:
    """Whether a result may stand for a tensor: a number for one without axes, a nested list for others."""
    if axes and isinstance(result, list | tuple):
        return all(stands_for(entry, axes - 1) for entry in result)
    return axes == 0 and (isinstance(result, Real) or (isinstance(result, Tensor) and result.dim() == 0))


def plain(result: Any) -> Any:
    """The result, with numbers in place of the tensors without axes in its lists."""
    if isinstance(result, list | tuple):
        return [plain(entry.item() if isinstance(entry, Tensor) else entry) for entry in result]
    return result


def raised(error: Exception) -> Verdict:
    """The verdict on an error; it shows the last line of the student's own code in the traceback."""
    tb = error.__traceback__
    frames = zip(traceback.walk_tb(tb), traceback.extract_tb(tb), strict=True)
    own = [(part.line, frame.f_locals) for (frame, _), part in frames if part.line and is_own(part.filename)]
    gaps = {"error": type(error).__name__, "reason": error}
    if not own:
        return wrong("function_raised", **gaps)
    line, variables = own[-1]
    if type(error) is NameError and error.name:
        return wrong("name_unknown", line=line, name=error.name)
    sentences = [say("line_raised", line=line, **gaps), *hints(str(error), line, variables)]
    return Verdict("wrong", "\n".join(sentences), ("line_raised",))


def hints(reason: str, line: str, variables: Mapping[str, Any]) -> Iterator[str]:
    """What to look for, where the reason of an error in this line of an answer is a usual slip."""
    if "Boolean value of Tensor" in reason:
        yield say("one_truth_value")
    if re.search(r"must be Tensor, not (int|float)|for \^|_xor_", reason):
        yield say("power_of_a_number")
    named = {name: variables.get(name) for name in re.findall(r"\w+", line)}
    tensors = {name: value for name, value in named.items() if isinstance(value, Tensor)}
    if tensors and re.search("size|shape", reason):
        shapes = (f"{name} {tuple(tensor.shape)}" for name, tensor in tensors.items())
        yield say("shapes_in_line", shapes=say("between").join(shapes))
        if any(tensor.dim() > 2 and re.search(rf"\b{name}\.T\b", line) for name, tensor in tensors.items()):
            yield say("all_axes_turned")
        elif "non-singleton" in reason and len({tensor.dim() for tensor in tensors.values()}) > 1:
            yield say("axis_missing_before")
        elif re.search("batch2|mat1 and mat2", reason):
            yield say("axes_do_not_meet")


def difference(result: Tensor, right: Tensor, call: Arguments) -> Verdict:
    """The verdict that names the first entry that differs."""
    arguments = say("between").join(map(describe, call))
    if result.shape != right.shape:
        alike = same(result.flatten(), right.flatten())
        name = "right_numbers" if alike and right.numel() else "wrong_shape"
        return wrong(name, call=arguments, wanted=tuple(right.shape), given=tuple(result.shape))
    where = (~close(result, right)).nonzero()[0].tolist()
    pair = [tensor[tuple(where)].item() for tensor in (right, result)]
    digits = next((few for few in (4, 6) if len({f"{number:.{few}g}" for number in pair}) == 2), 9)
    wanted, is_given = (f"{number:.{digits}g}" for number in pair)
    gaps = {"call": arguments, "wanted": wanted, "given": is_given}
    return wrong("wrong_entry", entry=where, **gaps) if where else wrong("wrong_number", **gaps)


def close(result: Tensor, right: Tensor) -> Tensor:
    return torch.isclose(result.double(), right.double(), rtol=1e-4, atol=1e-5, equal_nan=True)


def is_only_zeros(result: Tensor, right: Tensor) -> bool:
    return result.shape == right.shape and bool(right.any()) and not result.any()


def same(result: Any, right: Any) -> bool:
    result, right = torch.as_tensor(result), torch.as_tensor(right)
    return result.shape == right.shape and bool(close(result, right).all())


def overwritten(given: Answer, call: Arguments, fresh: Arguments) -> Verdict | None:
    """The verdict if the call has changed one of its arguments."""
    for place, (after, before) in enumerate(zip(call, fresh, strict=True)):
        if not unchanged(after, before):
            names = list(inspect.signature(given).parameters)
            return wrong("overwritten", argument=names[min(place, len(names) - 1)])
    return None


def unchanged(after: Any, before: Any) -> bool:
    if isinstance(before, list | tuple):
        return len(after) == len(before) and all(map(unchanged, after, before))
    if isinstance(before, dict):
        return unchanged(list(after.items()), list(before.items()))
    return not isinstance(before, Tensor) or same(after, before)


def describe(value: object) -> str:
    if isinstance(value, Tensor):
        numbers = "" if value.dim() != 1 or value.is_floating_point() else f" {value.tolist()}"
        return say("tensor", shape=tuple(value.shape)) + numbers
    if isinstance(value, int | float | str | dict):
        return repr(value)
    kind = "model" if isinstance(value, nn.Module) else "function" if callable(value) else "other"
    return say(kind, type=type(value).__name__)
