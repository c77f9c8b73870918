"""A kind of exercise: a set of numbers. In lesson 01 one names the factor of the cost in this way."""

from pathlib import Path

from tests.errands.edits import add_above, replace

HEADING = "Add a kind of exercise"
TESTS = ["tests/classroom/exercises/test_answers.py", "tests/classroom/exercises/test_lessons.py"]
TESTS += ["tests/classroom/lesson", "tests/classroom/test_begin.py"]
KIND = '''"""Exercises whose answer is a set of numbers."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from mha_lib.classroom.exercises.judge import Judged, Verdict, describe, say, wrong


@dataclass(frozen=True)
class Several(Judged):
    """A set that is right, and for the name of each slip the set to which it leads."""

    answer: set[int]
    mistakes: Mapping[str, set[int]] = field(default_factory=dict)

    def judge(self, given: object) -> Verdict:
        if given is ...:
            return Verdict("not yet", say("nothing_written"))
        if given == self.answer:
            return self.solved("right")
        name = next((name for name, slip in self.mistakes.items() if slip == given), None)
        return self.mistaken(name) if name else wrong("another_set", given=describe(given))
'''
SEVERAL = 'Several("cost_factor", {2}, {"both_twice": {4}, "same_work": {1}}, hint="cost-why")'
ANSWERS = 'cost_factor = Answers(right=[{2}], wrong=[("both_twice", {4}), ("another_set", {0, 1})])'
SAID = {"en": "another set is wanted, this is {given}.", "zh": "应是另一个集合，这里是 {given}。"}


def make(root: Path) -> None:
    classroom = root / "mha_lib" / "classroom"
    (classroom / "exercises" / "several.py").write_text(KIND, encoding="utf-8")
    for language, said in SAID.items():
        words = classroom / "words" / language / "interface.json"
        add_above(words, '    "nothing_written": ', f'    "another_set": "{said}",\n')
    name = "lesson_01_single_head_attention.py"
    lesson = classroom / "exercises" / name
    add_above(lesson, "import Draw, Exercise", "from mha_lib.classroom.exercises.several import Several\n")
    replace(lesson, 'Small("cost_factor", 2, {"both_twice": 4, "same_work": 1}, hint="cost-why")', SEVERAL)
    answers = root / "tests" / "classroom" / "exercises" / name
    replace(answers, "cost_factor = Answers(right=[2.0])", ANSWERS)
