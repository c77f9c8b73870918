"""Training a translator: interrupted and continued, kept and loaded; ``test_kept.py`` has the rest of it."""

import pytest
import torch

from mha_lib.classroom.trainings import kept, one_thread
from mha_lib.classroom.translator import (
    Training,
    make_translator,
    train_translator,
    training,
    translation_loss,
)

pytestmark = pytest.mark.usefixtures("course")  # where trainings are kept


def new_training(model=None, **options):
    model = make_translator() if model is None else model
    return Training(model, steps=6, batch_size=4, max_digits=2, **options)


def same(first, second):
    return all(torch.equal(a, b) for a, b in zip(first.parameters(), second.parameters(), strict=True))


@one_thread()
def make_two_steps(training):
    training.model.train()
    training.make_step()
    training.make_step()


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


@pytest.fixture(autouse=True)
def _snapshots(monkeypatch):
    monkeypatch.setattr(training, "SNAPSHOTS", (0, 2))
    monkeypatch.setattr(training, "Training", new_training)  # for train_translator


def test_an_interrupt_in_the_middle_of_a_step_does_no_harm(monkeypatch):
    training = new_training()
    make_two_steps(training)
    step = training.scheduler.step

    def interrupted():
        monkeypatch.setattr(training.scheduler, "step", step)
        raise KeyboardInterrupt

    monkeypatch.setattr(training.scheduler, "step", interrupted)
    assert training.run().step == 2
    training.run()
    assert training.step == len(training.losses) == 6


def test_the_model_is_remembered_as_it_was():
    training = new_training().run()
    assert sorted(training.snapshots) == [0, 2, 6]
    assert same(training.model_at(0), make_translator())
    middle = new_training()
    make_two_steps(middle)
    assert same(training.model_at(2), middle.model)
    assert same(training.model_at(6), training.model)
    with pytest.raises(ValueError, match="step must be one that was remembered: 0, 2, 6; got 1"):
        training.model_at(1)


def test_another_loss_is_another_training(monkeypatch):
    made = note_batches(monkeypatch)
    for scale in (1, 2, 1):
        new_training(loss=lambda model, batch, scale=scale: scale * translation_loss(model, batch)).run()
    assert len(made) == 2 * 6, "the last is the first again"
    assert made[:6] == made[6:]


def test_an_interrupted_training_goes_on_in_another_kernel_and_is_finished_once(monkeypatch):
    monkeypatch.setattr(kept, "SECONDS_BETWEEN", 0)
    whole = new_training(seed=0).run(folder="elsewhere")
    made = note_batches(monkeypatch, interrupt_at=5)
    assert train_translator().step == 4
    for _ in range(2):
        found = train_translator()
        assert len(made) == 5 + 2
        assert found.losses == whole.losses
        assert same(found.model, whole.model)
        assert same(found.model_at(2), whole.model_at(2))
        assert not found.model.training


def test_other_heads_and_seeds_are_other_translators(tmp_path):
    for heads, seed in ((4, 0), (2, 0), (4, 1)):
        train_translator(heads, seed, folder=tmp_path / "kept")
    assert len(list((tmp_path / "kept").iterdir())) == 3
