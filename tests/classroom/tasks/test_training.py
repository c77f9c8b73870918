"""Training: interrupted and continued, kept and loaded, also from a damaged file."""

import pickle
from collections.abc import Callable
from functools import partial
from itertools import pairwise
from pathlib import Path

import pytest
import torch

from mha_lib.classroom.course import language
from mha_lib.classroom.tasks import Training, make_translator, train_translator, training, translation_loss
from mha_lib.classroom.tasks.heads import attention_layers
from tests.brackets import bracketed, outside_brackets

FILE = "translator-4-heads-seed-0.pt"


def new_training(model=None, **options):
    model = make_translator() if model is None else model
    return Training(model, steps=6, batch_size=4, max_digits=2, snapshots_at=(0, 2), **options)


def same(first, second):
    return all(torch.equal(a, b) for a, b in zip(first.parameters(), second.parameters(), strict=True))


def interrupt_at(step):
    """Return a loss that is interrupted once."""
    calls = []

    def loss(model, batch):
        calls.append(batch)
        if len(calls) == step:
            raise KeyboardInterrupt
        return translation_loss(model, batch)

    return loss


@pytest.fixture
def brief(monkeypatch):
    """Let ``train_translator`` train for six steps only."""
    monkeypatch.setattr(training, "Training", new_training)


def test_the_loss_becomes_small():
    losses = Training(make_translator(), steps=60, batch_size=16, max_digits=1).run().losses
    assert len(losses) == 60
    assert sum(losses[-5:]) < sum(losses[:5]) / 3


def test_training_is_the_same_for_the_same_seed():
    first, second, other = (new_training(seed=seed).run() for seed in (1, 1, 2))
    assert first.losses == second.losses != other.losses
    assert same(first.model, second.model)


def test_training_in_parts_is_training_at_once():
    whole, parts = new_training().run(), new_training()
    assert parts.run(until=2).step == 2
    assert parts.run(until=5).step == 5
    assert parts.run().step == parts.run().step == 6
    assert parts.losses == whole.losses
    assert same(parts.model, whole.model)


def test_after_an_interrupt_training_goes_on(capsys):
    training = new_training(loss=interrupt_at(4)).run()
    assert (training.step, len(training.losses)) == (3, 3)
    assert not training.model.training
    said = capsys.readouterr().out.split("\r")[-1].strip()
    assert said == ("Interrupted after 3 of 6 steps. What was learnt is kept: run the cell again to go on.")
    assert training.run().step == 6
    assert "Trained: 6 of 6 steps" in capsys.readouterr().out


@pytest.mark.parametrize("where", ["optimizer", "scheduler"])
def test_an_interrupt_in_the_middle_of_a_step_does_no_harm(where, monkeypatch):
    training = new_training().run(until=2)
    target = getattr(training, where)
    step = target.step

    def interrupted(*arguments):
        monkeypatch.setattr(target, "step", step)
        raise KeyboardInterrupt

    monkeypatch.setattr(target, "step", interrupted)
    assert training.run().step == 2
    training.run()
    assert training.step == len(training.losses) == 6


def test_training_takes_one_thread_and_leaves_the_others_as_they_were():
    threads, before = [], torch.get_num_threads()

    def loss(model, batch):
        threads.append(torch.get_num_threads())
        return translation_loss(model, batch)

    torch.set_num_threads(2)
    try:
        new_training(loss=loss).run()
        assert (set(threads), torch.get_num_threads()) == ({1}, 2)
    finally:
        torch.set_num_threads(before)


def test_other_errors_are_not_swallowed():
    def broken(model, batch):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        new_training(loss=broken).run()


def test_the_model_is_remembered_as_it_was():
    training = new_training()
    fresh = make_translator()
    middle = new_training().run(until=2).model
    training.run()
    assert sorted(training.snapshots) == [0, 2, 6]
    assert same(training.model_at(0), fresh)
    assert same(training.model_at(2), middle)
    assert same(training.model_at(6), training.model)
    with pytest.raises(ValueError, match="step must be one that was remembered: 0, 2, 6; got 1"):
        training.model_at(1)


def test_what_is_shown_is_one_line_that_is_written_over(capsys, monkeypatch):
    monkeypatch.setattr(training, "SECONDS_BETWEEN", 0)
    new_training().run()
    lines = capsys.readouterr().out.split("\r")
    assert lines[0] == ""
    assert lines[1].startswith("██████████░░░░░░░░░░░░░░░░░░░░ step 2 of 6, loss ")
    assert lines[-1].startswith("Trained: 6 of 6 steps")
    assert lines[-1].endswith("\n")
    assert all(len(line) >= len(before.rstrip()) for before, line in pairwise(lines))
    assert "\n" not in "".join(lines[:-1])


def test_nothing_is_shown_where_nothing_is_wanted(capsys):
    new_training().run(show_progress=False)
    assert capsys.readouterr().out == ""


DAMAGES: dict[str, Callable[[Path, dict], object]] = {
    "empty": lambda file, kept: file.write_bytes(b""),
    "text": lambda file, kept: file.write_text("no translator"),
    "half": lambda file, kept: file.write_bytes(file.read_bytes()[: file.stat().st_size // 2]),
    "foreign pickle": lambda file, kept: file.write_bytes(pickle.dumps({"recipe": Path("foreign")})),
    "foreign weights": lambda file, kept: torch.save({"weight": torch.ones(3)}, file),
    "other recipe": lambda file, kept: torch.save(kept | {"recipe": kept["recipe"] | {"edition": 0}}, file),
    # its parameters have the same shapes
    "other heads": lambda file, kept: torch.save(kept | {"recipe": kept["recipe"] | {"num_heads": 2}}, file),
    "other model": lambda file, kept: torch.save(
        kept | {"model": kept["model"] | {"more": torch.ones(1)}}, file
    ),
    "folder": lambda file, kept: [file.unlink(), (file / "full").mkdir(parents=True)],
}


@pytest.mark.usefixtures("brief")
class TestKeeping:
    def test_a_translator_is_trained_once(self, tmp_path, capsys):
        first = train_translator(folder=tmp_path / "new" / "folder")
        assert "Trained" in capsys.readouterr().out
        second = train_translator(folder=tmp_path / "new" / "folder")
        assert capsys.readouterr().out == ""
        assert same(first.model, second.model)
        assert second.losses == first.losses
        assert same(second.model_at(2), first.model_at(2))
        assert [file.name for file in (tmp_path / "new" / "folder").iterdir()] == [FILE]

    def test_other_heads_and_seeds_are_other_translators(self, tmp_path):
        for heads, seed in ((4, 0), (2, 0), (4, 1)):
            model = train_translator(heads, seed, folder=tmp_path).model
            assert attention_layers(model)["encoder"][0].num_heads == heads
        assert len(list(tmp_path.iterdir())) == 3

    def test_it_is_kept_in_the_work_folder_of_the_course(self, tmp_path, monkeypatch):
        lesson = tmp_path / "notebooks" / "en" / "04.ipynb"
        lesson.parent.mkdir(parents=True)
        lesson.touch()
        monkeypatch.chdir(lesson.parent)
        train_translator()
        assert (tmp_path / "work" / FILE).exists()

    def test_an_interrupted_training_goes_on_in_another_kernel(self, tmp_path, monkeypatch):
        whole = new_training(seed=0).run()
        monkeypatch.setattr(training, "Training", partial(new_training, loss=interrupt_at(4)))
        assert train_translator(folder=tmp_path).step == 3
        monkeypatch.setattr(training, "Training", new_training)
        found = train_translator(folder=tmp_path)
        assert found.step == 6
        assert found.losses[:3] == whole.losses[:3]
        assert len(found.losses) == 6

    @pytest.mark.parametrize("damage", DAMAGES)
    def test_a_file_that_holds_no_translator_is_said_and_trained_anew(self, tmp_path, damage, capsys):
        file = tmp_path / FILE
        right = train_translator(folder=tmp_path)
        DAMAGES[damage](file, torch.load(file, weights_only=True))
        capsys.readouterr()
        found = train_translator(folder=tmp_path)
        said = capsys.readouterr().out
        assert said.startswith(f"{file} holds no translator of this lesson")
        assert same(found.model, right.model)
        assert "Trained: 6 of 6" in said
        if damage != "folder":
            train_translator(folder=tmp_path)
            assert capsys.readouterr().out == "", "it was kept in the place of the other"

    def test_nothing_in_the_file_is_run(self, tmp_path):
        ran = tmp_path / "ran"
        (tmp_path / FILE).write_bytes(pickle.dumps(Touching(str(ran))))
        train_translator(folder=tmp_path)
        assert not ran.exists()

    def test_where_nothing_can_be_kept_training_is_not_lost(self, tmp_path, capsys):
        (tmp_path / "work").write_text("a file where the folder should be")
        assert train_translator(folder=tmp_path / "work").step == 6
        assert "could not be kept" in capsys.readouterr().out

    def test_everything_is_said_in_the_language_of_the_lesson(self, tmp_path, monkeypatch, capsys):
        words = bracketed(language.words_in("en"))
        monkeypatch.setattr(training, "words_here", lambda: words)
        monkeypatch.setattr(training, "SECONDS_BETWEEN", 0)
        (tmp_path / FILE).write_text("nothing")
        train_translator(folder=tmp_path)
        said = capsys.readouterr().out
        assert "⟦Trained" in said
        assert "holds no translator" in said
        assert not any(letter.isalpha() for letter in outside_brackets(said))


class Touching:
    """Runs something when it is unpickled."""

    def __init__(self, path: str):
        self.path = path

    def __reduce__(self):
        return Path.touch, (Path(self.path),)
