"""A training loop over ``kept_steps``: what is loaded, what begins anew, and where a stopped one goes on."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch

from mha_lib.classroom.lesson import shell as shell_module
from mha_lib.classroom.trainings import fingerprint, forget_trainings, kept

# A lesson's training, with one of each that it may depend on.
LESSON = """
import torch
from torch import nn
from mha_lib import MultiHeadAttention
from mha_lib.classroom.trainings import kept_steps

scale = 1.0
settings = {"sizes": [4, 3], "kinds": {"one", "two", "three"}}
made = []

def draw(generator):
    return 2.0 * scale * torch.randn(*settings["sizes"], generator=generator)

def no_grad_draw(generator):
    with torch.no_grad():
        return draw(generator)

class Model(nn.Module):
    def __init__(self, num_heads=2):
        super().__init__()
        self.inner = nn.Linear(3, 8)
        self.attention = MultiHeadAttention(8, num_heads)

    def forward(self, x):
        return self.attention(self.inner(x)[None])

@torch.enable_grad()
def loss_of(model, x):
    return model(x).square().mean()

def train(seed=0, steps=9, num_heads=2, learning_rate=0.01, decay=0.9):
    torch.manual_seed(seed)
    model = Model(num_heads)
    generator = torch.Generator().manual_seed(seed)
    optimizer = torch.optim.Adam(model.parameters(), learning_rate)
    schedule = torch.optim.lr_scheduler.ExponentialLR(optimizer, decay)
    losses = []
    for step in kept_steps(steps, model, optimizer, schedule, generator, losses):
        loss = loss_of(model, no_grad_draw(generator))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
        losses.append(loss.item())
        made.append(step)
    weights = [p.tolist() for p in model.parameters()]
    return weights, generator.get_state().tolist(), losses, schedule.last_epoch
"""
CELLS = """
model = nn.Linear(3, 1)
with torch.no_grad():
    model.weight.fill_(0.1)
    model.bias.fill_(0.2)
optimizer = torch.optim.SGD(model.parameters(), 0.1)
for step in kept_steps(3, model, optimizer):
    x = torch.ones(2, 3)
    loss = model(x).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    made.append(step)
"""


@pytest.fixture(autouse=True)
def folder(course, monkeypatch):
    """The folder where the lessons of the test's course keep their trainings, without lines of progress."""
    monkeypatch.setattr(kept, "SECONDS_BETWEEN", 3600)  # a busy machine would print some
    return course / "work" / "trainings"


def lesson(source: str = LESSON) -> dict:
    """The names of a lesson in a fresh kernel."""
    names: dict = {"__name__": "__main__"}
    exec(source, names)
    return names


def changed(old: str, new: str) -> str:
    assert LESSON.count(old) == 1, old
    return LESSON.replace(old, new)


def train(source: str = LESSON, *arguments: int) -> list[int]:
    """Train in a fresh kernel; returns the steps that were made."""
    names = lesson(source)
    names["train"](*arguments)
    return list(names["made"])


def test_the_second_training_makes_no_step_and_ends_in_the_same_state(folder, capsys):
    first, second = lesson(), lesson()
    expected = first["train"]()
    assert second["train"]() == expected
    assert (len(first["made"]), second["made"]) == (9, [])
    assert capsys.readouterr().out == ""
    assert [file.name.rpartition("-")[0] for file in folder.iterdir()] == ["train-Model"]


def test_a_loop_over_kept_steps_learns_what_a_loop_over_range_learns():
    plain = lesson()
    plain["kept_steps"] = lambda steps, *parts: range(steps)
    assert lesson()["train"]() == plain["train"]()


CHANGES = {
    "constant": ("scale = 1.0", "scale = 1.5"),
    "set": ('"two", ', ""),
    "helper of a helper": ("return 2.0 *", "return 3.0 *"),
    "decorated function": (".square().mean()", ".square().sum()"),
    "method": ("self.inner(x)[None]", "self.inner(2 * x)[None]"),
    "loop": ("optimizer.zero_grad()", "optimizer.zero_grad(set_to_none=False)"),
    "seed": ("seed=0", "seed=1"),
    "steps": ("steps=9", "steps=8"),
    "number of heads, with parameters of the same shape": ("num_heads=2, l", "num_heads=4, l"),
    "optimizer": ("learning_rate=0.01", "learning_rate=0.02"),
    "local variable": ("losses = []", "losses, more = [], 3.0"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_what_decides_the_result_trains_anew(change, folder):
    train()
    assert len(train(changed(*CHANGES[change]))) >= 8
    assert len(list(folder.iterdir())) == 2


def test_comments_and_what_the_training_does_not_use_change_nothing():
    train()
    assert train(changed("class Model", "other = torch.rand(4)\n\n# a comment\nclass Model")) == []


def test_another_pytorch_and_another_edition_of_the_library_train_anew(tmp_path, monkeypatch):
    train()
    monkeypatch.setattr(torch, "__version__", "1.0")
    assert len(train()) == 9
    monkeypatch.setattr(fingerprint, "LIBRARY", tmp_path)
    for text in ("x = 1", "x = 2"):
        (tmp_path / "new.py").write_text(text)
        fingerprint.edition.cache_clear()
        assert len(train()) == 9
    monkeypatch.undo()
    fingerprint.edition.cache_clear()


def test_what_a_cell_has_set_before_its_loop_counts():
    names = lesson()
    cell = CELLS.replace("optimizer =", "scale = torch.rand(1)\noptimizer =", 1)
    for _ in range(2):
        names["made"].clear()
        exec(cell.replace("x = torch.ones(2, 3)", "x = scale * torch.ones(2, 3)"), names)
        assert names["made"] == [0, 1, 2]


@pytest.mark.parametrize(("step", "error"), [(1, KeyboardInterrupt), (8, ZeroDivisionError)])
def test_a_stopped_training_goes_on_and_ends_in_the_same_state_to_the_last_bit(
    step, error, monkeypatch, capsys
):
    """PyTorch stops it amid a step, when the optimizer has changed the model: the lesson stays the same."""
    monkeypatch.setattr(kept, "SECONDS_BETWEEN", 0)  # note a state, and write the file, after each step
    expected, step_of_adam = lesson()["train"](), torch.optim.Adam.step
    steps: list[object] = []

    def step_and_stop(optimizer, *arguments):
        step_of_adam(optimizer, *arguments)
        steps.append(optimizer)
        if len(steps) == step + 1:
            raise error

    forget_trainings()
    stopped, gone_on = lesson(), lesson()
    monkeypatch.setattr(torch.optim.Adam, "step", step_and_stop)
    with pytest.raises(error):
        stopped["train"]()
    assert f"Stopped after {step} of 9 steps. What was learnt is kept" in capsys.readouterr().out
    assert gone_on["train"]() == expected
    assert (stopped["made"], gone_on["made"]) == ([*range(step)], [*range(step, 9)])


def test_a_cell_that_trains_by_itself_is_kept_and_may_run_twice():
    """The variables of its first run are there when it runs again."""
    first, second = lesson(), lesson()
    for names, expected in ((first, [0, 1, 2]), (first, []), (second, [])):
        names["made"].clear()
        exec(CELLS, names)
        assert names["made"] == expected
        assert names["model"].weight.tolist() == [[pytest.approx(-0.5)] * 3]


def test_it_is_the_same_training_in_another_process():
    """Sets have another order there, and objects other addresses."""
    train()
    program = "import sys; exec(sys.argv[1]); train(); print(made)"
    environment = os.environ | {"PYTHONPATH": str(fingerprint.LIBRARY.parent), "PYTHONHASHSEED": "7"}
    command = [sys.executable, "-c", program, LESSON]
    ran = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert ran.stdout == "[]\n"


DAMAGES: dict[str, Callable[[Path], object]] = {
    "pickle that ends the kernel": lambda file: file.write_bytes(b"cbuiltins\nexit\n(tR."),
    "another training": lambda file: torch.save(torch.load(file) | {"fingerprint": "another"}, file),
    "another optimizer": lambda file: torch.save(
        (right := torch.load(file)) | {"states": [right["states"][0], {}, *right["states"][2:]]}, file
    ),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_file_is_said_in_a_line_and_trained_anew_and_nothing_in_it_runs(damage, folder, capsys):
    expected = lesson()["train"]()
    (file,) = folder.iterdir()
    DAMAGES[damage](file)
    anew = lesson()
    assert anew["train"]() == expected
    assert len(anew["made"]) == 9
    said = capsys.readouterr().out.strip()
    assert said.startswith(f"{file} is damaged, so the model is trained anew.")
    assert "\n" not in said
    assert train() == [], "it was kept in the place of the other"


def test_where_nothing_can_be_written_the_training_is_not_lost(folder, capsys):
    folder.parent.mkdir()
    folder.write_text("a file where the folder should be")
    assert len(train()) == 9
    assert capsys.readouterr().out.strip().startswith("This training is not kept: ")


def test_what_cannot_be_compared_is_said_and_trains_each_time(folder, capsys):
    assert len(train(changed("losses = []", "losses, numbers = [], (number for number in [3])"))) == 9
    said = capsys.readouterr().out
    assert said.strip() == "This training is not kept: cannot pickle 'generator' object"
    assert not folder.exists()


def test_a_lesson_in_no_course_keeps_beside_itself(tmp_path, monkeypatch):
    def no_course():
        raise kept.CourseError("no_course", folder=tmp_path)

    monkeypatch.setattr(kept, "find_root", no_course)
    monkeypatch.chdir(tmp_path)
    train()
    assert len(list((tmp_path / "work" / "trainings").iterdir())) == 1


def test_those_used_longest_ago_go_when_they_become_too_many(folder, monkeypatch):
    files = []
    for seed in range(3):
        train(LESSON, seed)
        files += [file for file in folder.iterdir() if file not in files]
        os.utime(files[-1], (seed, seed))
    train(LESSON, 0)  # used again
    monkeypatch.setattr(kept, "MOST_BYTES", 3.5 * files[0].stat().st_size)
    train(LESSON, 3)
    assert files[1] not in folder.iterdir()
    assert {files[0], files[2]} < {*folder.iterdir()}


def test_in_a_lesson_it_is_one_output_that_tells_its_steps_and_has_nothing_in_the_end(monkeypatch, capsys):
    monkeypatch.setattr(kept, "SECONDS_BETWEEN", 0)
    said = []
    shell = SimpleNamespace(
        display_pub=SimpleNamespace(publish=lambda *what, **how: said.append((what, how)))
    )
    monkeypatch.setattr(shell_module, "shell_here", lambda: shell)
    train()
    *shown, (last, _) = [what for what, _ in said]
    assert [about["mha_progress"]["step"] for _, about in shown] == [*range(1, 9)]
    assert "step 8 of 9, " in shown[-1][0]["text/plain"]
    assert last == {}
    assert [how["update"] for _, how in said] == [False, *[True] * 8]
    assert capsys.readouterr().out == ""
