"""Training a translator: interrupted and continued, kept and loaded; ``test_kept.py`` has the rest of it."""

import pytest
import torch

from mha_lib.classroom.trainings import kept
from mha_lib.classroom.translator import (
    Training,
    draw_training_numbers,
    make_translator,
    train_translator,
    training,
    translation_loss,
)
from mha_lib.classroom.translator.heads import attention_layers

pytestmark = pytest.mark.usefixtures("course")  # where trainings are kept


def new_training(model=None, **options):
    model = make_translator() if model is None else model
    return Training(model, steps=6, batch_size=4, max_digits=2, snapshots_at=(0, 2), **options)


def same(first, second):
    return all(torch.equal(a, b) for a, b in zip(first.parameters(), second.parameters(), strict=True))


def note_batches(monkeypatch, interrupt_at=0):
    """Return a list of the numbers of each batch; the training is interrupted once, in this step if any."""
    make, made = training.make_batch, []

    def noted(numbers, device):
        made.append(numbers)
        if len(made) == interrupt_at:
            raise KeyboardInterrupt
        return make(numbers, device)

    monkeypatch.setattr(training, "make_batch", noted)
    return made


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


@pytest.mark.parametrize("shown", [True, False])
def test_after_an_interrupt_training_goes_on_and_says_so_where_that_is_wanted(shown, capsys, monkeypatch):
    monkeypatch.setattr(kept, "SECONDS_BETWEEN", 0)
    note_batches(monkeypatch, interrupt_at=4)
    training = new_training().run(show_progress=shown)
    assert (training.step, len(training.losses)) == (3, 3)
    assert not training.model.training
    said = capsys.readouterr().out
    assert ("run the cell again to go on" in said) == bool(said) == shown
    assert training.run().step == 6


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


def test_another_loss_is_another_training_and_so_is_another_draw_which_gives_other_numbers(monkeypatch):
    def ones(count, generator, max_digits):
        return torch.ones(count, dtype=torch.int64)

    made = note_batches(monkeypatch)
    for scale, draw in ((1, ones), (1, draw_training_numbers), (2, draw_training_numbers), (1, ones)):
        new_training(
            loss=lambda model, batch, scale=scale: scale * translation_loss(model, batch), draw=draw
        ).run()
    assert len(made) == 3 * 6, "the last is the first again"
    assert made[:6] == [[1, 1, 1, 1]] * 6
    assert made[6:12] == made[12:] != made[:6]


@pytest.mark.usefixtures("brief")
class TestKeeping:
    def test_a_translator_is_trained_once(self, tmp_path, monkeypatch):
        folder = tmp_path / "new" / "folder"
        first = train_translator(folder=folder)
        monkeypatch.setattr(training, "make_batch", None)  # no step is made
        second = train_translator(folder=folder)
        assert same(first.model, second.model)
        assert second.losses == first.losses
        assert same(second.model_at(2), first.model_at(2))
        assert not second.model.training
        assert [file.name.rpartition("-")[0] for file in folder.iterdir()] == ["Training-run"]

    def test_other_heads_and_seeds_are_other_translators(self, tmp_path):
        folder = tmp_path / "kept"
        for heads, seed in ((4, 0), (2, 0), (4, 1)):
            model = train_translator(heads, seed, folder=folder).model
            assert attention_layers(model)["encoder"][0].num_heads == heads
        assert len(list(folder.iterdir())) == 3

    def test_an_interrupted_training_goes_on_in_another_kernel(self, course, monkeypatch):
        monkeypatch.setattr(kept, "SECONDS_BETWEEN", 0)
        whole = new_training(seed=0).run(folder="elsewhere")
        made = note_batches(monkeypatch, interrupt_at=5)
        assert train_translator().step == 4
        found = train_translator()
        assert len(made) == 5 + 2
        assert found.losses == whole.losses
        assert same(found.model, whole.model)
        assert sorted(found.snapshots) == [0, 2, 6]
        assert len(list((course / "work" / "trainings").iterdir())) == 1
