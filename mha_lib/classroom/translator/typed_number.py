"""A number that somebody types: a translator writes it, and all its heads are looked at.

``typed_number.js`` does the same in a page, where PyTorch's export of the translator computes.
"""

from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import torch
from torch import Tensor

from mha_lib import ByAttention, EncoderDecoder
from mha_lib.classroom.explorer.typed_text import TYPED
from mha_lib.classroom.lesson.language import words_here
from mha_lib.classroom.trainings.threads import one_thread
from mha_lib.classroom.translator import numerals
from mha_lib.classroom.translator.data import (
    BEGIN,
    END,
    MAX_TARGET_TOKENS,
    SOURCE_VOCABULARY,
    TARGET_VOCABULARY,
    make_batch,
)
from mha_lib.classroom.translator.heads import head_masks_without
from mha_lib.classroom.translator.numerals import in_chinese, in_english, read_number
from torch_in_page import PageFunction, PageProgram, export_for_page, joined

SCRIPTS = [TYPED, Path(__file__).with_suffix(".js")]


class Written(NamedTuple):
    """What a translator has done with a number."""

    words: list[str]  # that it has read
    names: list[str]  # of the tokens that it has written, the last one is the end if it came to an end
    marked: list[str]  # the same, with a cross behind each that is wrong
    weights: ByAttention  # row t belongs to the token that it has written at place t


class TypedNumber:
    """Reads numbers as ``read_number`` does, and shows what a translator does with them.

    ``maps``, ``rows`` and ``columns`` take what an explorer's controls say: the typed ``number``, the
    ``attention`` (encoder, decoder or cross) and the head of it that is ``silenced``: its number, or any
    other value for none.
    """

    def __init__(self, model: EncoderDecoder):
        self.model = model
        self.write = lru_cache(8)(self._write)  # an explorer asks for maps, rows and columns

    @one_thread()
    @torch.no_grad()
    def _write(self, number: str, attention: str, silenced: object) -> Written:
        known = read_number(number)
        words = words_here()["numerals"]
        masks = head_masks_without(self.model)
        heads = getattr(masks, attention)[0]
        if silenced in range(len(heads)):
            heads[silenced] = 0
        source = make_batch([known]).source
        tokens = self.model.generate(
            source, begin=BEGIN, end=END, max_tokens=MAX_TARGET_TOKENS, head_masks=masks
        )[0]
        target = torch.cat([torch.tensor([BEGIN]), tokens[:-1]])[None]
        _, weights = self.model(source, target, need_weights=True, head_masks=masks)
        names = [words["end"] if token == END else TARGET_VOCABULARY[token] for token in tokens.tolist()]
        right = [*in_chinese(known), words["end"], *[""] * len(names)]
        marked = [name if name == r else f"{name} ✗" for name, r in zip(names, right, strict=False)]
        return Written(in_english(known).split(), names, marked, weights)

    def maps(
        self, number: str = "23045", attention: str = "cross", *, silenced: object
    ) -> tuple[Tensor, Tensor]:
        """Return the weights (H, Q, K) of one attention, and its mask."""
        maps = getattr(self.write(number, attention, silenced).weights, attention)[0][0]
        allowed = torch.ones(maps.shape[1:], dtype=torch.bool)
        return maps, allowed.tril() if attention == "decoder" else allowed

    def rows(self, number: str, attention: str, silenced: object) -> list[str]:
        """Return the words for the encoder, else the numerals written, with a cross behind wrong ones."""
        written = self.write(number, attention, silenced)
        return written.words if attention == "encoder" else written.marked

    def columns(self, number: str, attention: str, silenced: object) -> list[str]:
        """Return what the rows attend to: words, or in the decoder the numerals written before."""
        written = self.write(number, attention, silenced)
        if attention != "decoder":
            return written.words
        return [words_here()["numerals"]["begin"], *written.names[:-1]]

    def in_page(self) -> PageFunction:
        """The same for a page: the translator as two programs, and ``typed_number.js``."""
        data = {
            "source_vocabulary": SOURCE_VOCABULARY,
            "target_vocabulary": TARGET_VOCABULARY,
            "begin": BEGIN,
            "end": END,
            "most_tokens": MAX_TARGET_TOKENS,
            "num_heads": len(head_masks_without(self.model).cross[0]),
            "small": numerals.SMALL,
            "tens": numerals.TENS,
            "scales": list(numerals.SCALES.items()),
            "digits": numerals.DIGITS,
            "units": numerals.UNITS,
            "typed": numerals.TYPED,
            "in_units": numerals.IN_UNITS,
            "unit_values": numerals.UNIT_VALUES,
            "largest": f"{numerals.LARGEST:,}",
            "sentences": words_here()["numerals"],
        }
        return PageFunction(joined(SCRIPTS), programs_of(self.model), data)


def programs_of(model: EncoderDecoder) -> dict[str, PageProgram]:
    """The translator as two programs, for one text at a time and with head masks: ``encode`` reads the words
    once, ``decode`` says what follows each of the numerals that are written."""

    def encode(source: Tensor, heads: Tensor) -> dict[str, Tensor]:
        masks = ByAttention([heads], [heads], [heads])
        memory, maps = model.encode(source, need_weights=True, head_masks=masks)
        return {"memory": memory, "encoder": maps[0]}

    def decode(
        target: Tensor, memory: Tensor, decoder_heads: Tensor, cross_heads: Tensor
    ) -> dict[str, Tensor]:
        masks = ByAttention([decoder_heads], [decoder_heads], [cross_heads])
        logits, own, cross = model.decode(target, memory, need_weights=True, head_masks=masks)
        return {"logits": logits, "decoder": own[0], "cross": cross[0]}

    source, target = torch.tensor([[1, 2, 3]]), torch.tensor([[1, 3, 4, 5]])
    heads = head_masks_without(model).encoder[0]
    memory = model.encode(source)
    given = {"target": target, "memory": memory, "decoder_heads": heads, "cross_heads": heads}
    return {
        "encode": export_for_page(encode, {"source": source, "heads": heads}, {"source": {1: "S"}}),
        "decode": export_for_page(decode, given, {"target": {1: "T"}, "memory": {1: "S"}}),
    }
