"""The translator: its size, its loss, its translations, and how many of them are right."""

from collections.abc import Iterable
from dataclasses import dataclass, field

import torch
from torch import Tensor, nn

from mha_lib import ByAttention, EncoderDecoder
from mha_lib.classroom.trainings.threads import one_thread
from mha_lib.classroom.translator.data import (
    BEGIN,
    END,
    MAX_TARGET_TOKENS,
    PADDING,
    SOURCE_VOCABULARY,
    TARGET_VOCABULARY,
    Batch,
    as_numeral,
    held_out_numbers,
    make_batch,
)
from mha_lib.classroom.translator.numerals import in_chinese, in_english, read_number

NUM_HIDDENS, FFN_NUM_HIDDENS = 64, 128
AT_ONCE = 1000  # numbers that are translated in one batch


def make_translator(num_heads: int = 4, seed: int = 0) -> EncoderDecoder:
    """Make an untrained translator of one encoder layer and one decoder layer, the same for the same seed."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return EncoderDecoder(
            len(SOURCE_VOCABULARY), len(TARGET_VOCABULARY), NUM_HIDDENS, num_heads, FFN_NUM_HIDDENS
        )


def translation_loss(model: EncoderDecoder, batch: Batch, head_masks: ByAttention | None = None) -> Tensor:
    """Teacher forcing: how unlikely is each numeral after the right ones before it? Padding doesn't count."""
    inputs, labels = batch.target[:, :-1], batch.target[:, 1:]  # (B, T): one step apart
    logits = model(batch.source, inputs, batch.source_mask, head_masks=head_masks)  # (B, T, V)
    return nn.functional.cross_entropy(logits.flatten(0, 1), labels.flatten(), ignore_index=PADDING)


@one_thread()
def translate(
    model: EncoderDecoder, numbers: int | str | Iterable[int | str], head_masks: ByAttention | None = None
) -> list[str]:
    """Return what the model writes for numbers, or for texts that ``read_number`` understands.

    It reads their English words and writes one numeral after the other. The result may be no number at all.
    """
    listed = [numbers] if isinstance(numbers, (int, str)) else list(numbers)
    known = [read_number(number) if isinstance(number, str) else int(number) for number in listed]
    written = []
    was_training = model.training
    model.eval()
    try:
        for start in range(0, len(known), AT_ONCE):
            batch = make_batch(known[start : start + AT_ONCE], device_of(model))
            tokens = model.generate(
                batch.source,
                batch.source_mask,
                begin=BEGIN,
                end=END,
                max_tokens=MAX_TARGET_TOKENS,
                head_masks=head_masks,
            )
            written += [as_numeral(row) for row in tokens.tolist()]
    finally:
        model.train(was_training)
    return written


@dataclass(frozen=True)
class Translation:
    """A model's translation of a number, and the right one."""

    number: int
    english: str
    written: str
    right: str
    model: EncoderDecoder = field(repr=False, compare=False)

    def right_elsewhere(self) -> float:
        """Return the share of other numbers that the model gets right: an untrained model gets none."""
        return exact_matches(self.model, held_out_numbers(100)).float().mean().item()


def translation(model: EncoderDecoder, number: int | str) -> Translation:
    """Translate a number, or a text that ``read_number`` understands, and say what is right."""
    known = read_number(str(number))
    return Translation(known, in_english(known), translate(model, known)[0], in_chinese(known), model)


def exact_matches(
    model: EncoderDecoder, numbers: Iterable[int], head_masks: ByAttention | None = None
) -> Tensor:
    """``(N,)``, boolean: whether the model writes each number without any mistake."""
    numbers = [int(number) for number in numbers]
    written = translate(model, numbers, head_masks)
    return torch.tensor([text == in_chinese(number) for text, number in zip(written, numbers, strict=True)])


def device_of(model: nn.Module) -> torch.device:
    return next(model.parameters()).device
