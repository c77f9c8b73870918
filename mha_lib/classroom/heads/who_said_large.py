"""The widget "Who said this token?" for a model that no page can hold: Python computes, and the page shows.

The page asks by a message, with the text that was typed. The account of the first text is in the widget's
state, so that a page without a kernel shows it.
"""

import os
from collections.abc import Mapping
from typing import Any

import torch

from mha_lib import KVCache, LanguageModel
from mha_lib.classroom.heads.largest_parts import largest_parts
from mha_lib.classroom.heads.shares import check_model
from mha_lib.classroom.heads.who_said import WhoSaid, check_arguments, names_of_parts
from mha_lib.classroom.lesson.language import words_here
from mha_lib.classroom.lesson.outputs import FOR_A_PAGE

DIGITS = 3  # of the numbers that a page gets


def who_said_large(
    model: LanguageModel | None,
    tokenizer: Any,
    start: str,
    *,
    most: int = 48,
    temperature: float = 0.0,
    head: tuple[int, int] | None = None,
    kept: Mapping[str, dict[str, Any]] | None = None,
) -> "WhoSaidLarge":
    """A text that Python writes with the model, and for each token the ten parts that decided it.

    model      as for ``largest_parts``
    tokenizer  with ``encode(text).ids`` and ``decode(tokens)``, as ``load_real_model`` returns it
    start, most, temperature, head   as for ``who_said``; a head is shown where it is one of the ten
    kept       accounts by text, as ``account_of`` returns them: a reader chooses among these. Where ``model``
               is None, there are no others, and ``start`` is one of them

    All other parts stand in one row. Raises TypeError or ValueError for arguments that don't fit.
    """
    if model is not None:
        check_model(model)
        check_arguments(model, start, most, temperature, head)
    return WhoSaidLarge(model, tokenizer, start, most, temperature, list(head or []), dict(kept or {}))


class WhoSaidLarge(WhoSaid):
    """The widget that ``who_said_large`` returns."""

    def __init__(
        self,
        model: LanguageModel | None,
        tokenizer: Any,
        start: str,
        most: int,
        temperature: float,
        head: list[int],
        kept: dict[str, dict[str, Any]],
    ):
        self._model, self._tokenizer = model, tokenizer
        words = words_here()["who_said"] | {"alone": words_here()["real_model"]["kept"]}
        account = kept.get(start) or account_of(model, tokenizer, start, most, temperature, words)
        super().__init__(
            words=words,
            page={"parts": names_of_parts(account["heads"], words)},
            account=account,
            kept=kept,
            alone=model is None or bool(os.environ.get(FOR_A_PAGE)),
            start=start,
            most=most,
            temperature=float(temperature),
            head=head,
        )
        self.on_msg(self._answer)

    def _answer(self, _: Any, question: dict[str, Any], __: Any) -> None:
        text, temperature, seed = (question[name] for name in ("text", "temperature", "seed"))
        try:
            found = account_of(self._model, self._tokenizer, text, self.most, temperature, self.words, seed)
        except Exception as error:  # the page waits for an answer
            found = {"problem": self.words["failed"].format(error=error)}
        self.send({"run": question["run"], "account": found})


def account_of(
    model: Any,
    tokenizer: Any,
    text: str,
    most: int,
    temperature: float,
    words: dict[str, Any],
    seed: int = 1,
) -> dict[str, Any]:
    """Return what the page shows of a text and of what the model adds to it, or the ``problem`` of the text.

    heads   how many each layer has
    names   of the n + 1 tokens, then of the n rivals of all but the first
    typed   how many tokens the text has
    steps   for each token but the first its rival's place in ``names``, both logits, and the rows of the
            table: the number of a part, or −1 for all others, its two shares, and the weights of a head
    """
    typed = tokenizer.encode(text).ids
    if not text.strip():
        return {"problem": words["nothing"]}
    if len(typed) > most:
        return {"problem": words["too_long"].format(count=len(typed), most=most)}
    tokens = torch.tensor([continued(model, tokenizer, typed, most, temperature, seed)])
    found = largest_parts(model, tokens)
    steps = []
    for place, largest in enumerate(found.largest.tolist()):
        rows = [
            {
                "part": part,
                "shares": rounded(found.shares[place, at]),
                "weights": rounded(found.weights[place, at, : place + 1])
                if found.parts[part][0] == "head"
                else None,
            }
            for at, part in enumerate(largest)
        ]
        rows.append({"part": -1, "shares": rounded(found.rest[place]), "weights": None})
        rival = tokens.shape[1] + place
        steps.append({"rival": rival, "logits": rounded(found.logits[place]), "rows": rows})
    names = [tokenizer.decode([token], skip_special_tokens=False) for token in tokens[0].tolist()]
    names += [tokenizer.decode([token], skip_special_tokens=False) for token in found.rivals.tolist()]
    heads = [layer.self_attention.num_heads for layer in model.layers]
    return {"heads": heads, "names": names, "typed": len(typed), "steps": steps}


@torch.no_grad()
def continued(
    model: LanguageModel, tokenizer: Any, typed: list[int], most: int, temperature: float, seed: int
) -> list[int]:
    """Return the tokens, and those that the model adds: ``most`` in all, or fewer where it ends the text."""
    ends = {token for token, added in tokenizer.get_added_tokens_decoder().items() if added.special}
    generator = torch.Generator().manual_seed(seed)
    caches = [KVCache(layer.self_attention, 1, most) for layer in model.layers]
    tokens, new = list(typed), torch.tensor([typed])
    while len(tokens) < most:
        logits = model(new, caches)[0, -1]
        if temperature:
            token = int((logits / temperature).softmax(-1).multinomial(1, generator=generator))
        else:
            token = int(logits.argmax())
        tokens.append(token)
        if token in ends:
            break
        new = torch.tensor([[token]])
    return tokens


def rounded(x: torch.Tensor) -> list[float]:
    return [round(number, DIGITS) for number in x.tolist()]
