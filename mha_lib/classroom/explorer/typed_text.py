"""Letters that somebody types, and where a causal model of several layers looks while it reads them.

``typed_text.js`` does the same in a page, where PyTorch's export of the model computes.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from mha_lib.classroom.lesson.language import words_here
from torch_in_page import PageFunction, export_for_page, joined

TYPED = Path(__file__).with_name("typed.js")  # what all pages share in which a reader types
SCRIPTS = [TYPED, Path(__file__).with_suffix(".js")]
MOST = 64  # letters: more cells than that are too small


class NotUnderstood(ValueError):
    """A typed text says nothing that can be read; the message says which part was not understood."""


class TypedText:
    """``maps``, ``rows`` and ``columns`` take what an explorer's controls say: the typed ``text`` and the
    ``layer``.

    model    called with tokens (1, N); returns logits (1, N, V) and the weights of each layer, (1, H, N, N)
    letters  the letter of each token; blanks between typed letters are left out
    """

    def __init__(self, model: Callable[[Tensor], Any], letters: str):
        self.model, self.letters = model, letters

    @torch.no_grad()
    def maps(self, text: str, layer: int = 1) -> tuple[Tensor, Tensor]:
        """Return the weights (H, N, N) of a layer, and the causal mask."""
        maps = self.model(self.read(text))[1][layer][0]
        return maps, torch.ones(maps.shape[1:], dtype=torch.bool).tril()

    @torch.no_grad()
    def rows(self, text: str, layer: int) -> list[str]:
        """Return each letter with the one that the model expects after it, such as ``D → L``."""
        tokens = self.read(text)
        expected = self.model(tokens)[0][0].argmax(-1).tolist()
        return [f"{self.letters[a]} → {self.letters[b]}" for a, b in zip(tokens[0], expected, strict=True)]

    def columns(self, text: str, layer: int) -> list[str]:
        return [self.letters[token] for token in self.read(text)[0]]

    def read(self, text: str) -> Tensor:
        """Return the tokens (1, N) of a text; raises NotUnderstood, in the language of the lesson."""
        typed, words = "".join(text.split()).upper(), words_here()["typed_text"]
        for letter in typed:
            if letter not in self.letters:
                raise NotUnderstood(words["unknown"].format(letter=letter, letters=self.letters))
        if not 2 <= len(typed) <= MOST:
            raise NotUnderstood(words["length"].format(most=MOST, count=len(typed)))
        return torch.tensor([[self.letters.index(letter) for letter in typed]])

    def in_page(self) -> PageFunction:
        """The same for a page: the model as a program, and ``typed_text.js``."""

        def read(tokens: Tensor) -> dict[str, Any]:
            logits, weights = self.model(tokens)
            return {"logits": logits, "layer": weights}

        program = export_for_page(read, {"tokens": torch.tensor([[0, 1, 2]])}, {"tokens": {1: "N"}})
        data = {"letters": self.letters, "most": MOST, "sentences": words_here()["typed_text"]}
        return PageFunction(joined(SCRIPTS), {"read": program}, data)
