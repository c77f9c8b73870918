"""The widget "Who said this token?": a page writes with a small language model, and tells who said a token.

The page itself computes, with a kernel and without: Python exports one step of the model when the widget is
made. A step reads one token and what the layers have read before it, so that a text takes as many steps as it
has tokens, and each step leaves all that the page shows about the token that it predicts.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from traitlets import Bool, Dict, Float, Int, List, Unicode

from mha_lib.classroom.explorer.cell_widget import CellWidget
from mha_lib.classroom.explorer.widget import FOLDER, STYLE, read_module
from mha_lib.classroom.heads.shares import Run, check_model, keeping, shares_in
from mha_lib.classroom.lesson.language import words_here
from torch_in_page import PageFunction, PageProgram, export_for_page

HERE = Path(__file__)
SCRIPTS = [FOLDER / "elements.js", FOLDER / "own_keys.js", HERE.with_suffix(".js")]
IN_WORKER = "export default (inputs, { programs }) => programs.step.run(inputs);"
UNSEEN = 2  # rows of ``past`` that no query sees
HOTTEST = 1.5  # the end of the slider


def who_said(
    model: Any,
    vocabulary: Sequence[str],
    start: str,
    *,
    spaced: bool = True,
    most: int = 96,
    temperature: float = 0.0,
    head: tuple[int, int] | None = None,
) -> "WhoSaid":
    """A text that the page writes with the model, and for each token the shares of heads and networks in it.

    model        as for ``logit_shares``, without dropout: ``model.eval()``
    vocabulary   the name of each token
    start        the beginning of the text, which a reader may change
    spaced       whether blanks stand between tokens. If not, a text is cut by the longest name that fits
    most         tokens, with those of the beginning
    temperature  of the draw, from 0 (always the likeliest token) to 1.5; a slider changes it
    head         (layer, head) whose reading is shown at first; None: of each token the head that wrote most

    The page computes with weights in float16. Raises TypeError or ValueError for arguments that don't fit.
    """
    check_model(model)
    check_vocabulary(model, vocabulary)
    check_arguments(model, start, most, temperature, head)
    function = PageFunction(IN_WORKER, {"step": step_program(model)})
    words = words_here()["who_said"]
    parts = names_of_parts([layer.self_attention.num_heads for layer in model.layers], words)
    return WhoSaid(
        words=words,
        page=function.as_dict() | {"parts": parts, "width": len(model.layers) * model.table.embedding_dim},
        vocabulary=list(vocabulary),
        start=start,
        spaced=spaced,
        most=most,
        temperature=float(temperature),
        head=list(head or []),
    )


def names_of_parts(heads: Sequence[int], words: dict[str, Any]) -> list[dict[str, Any]]:
    """The names of all parts in the order of ``Shares``, with the place of each head.

    ``heads`` are the numbers of heads of the layers.
    """
    names = words["parts"]
    parts: list[dict[str, Any]] = [{"name": names["table"]}]
    for number, count in enumerate(heads):
        parts += [
            {"name": names["head"].format(layer=number, head=h), "head": [number, h]} for h in range(count)
        ]
        parts.append({"name": names["network"].format(layer=number)})
    return parts


def step_program(model: Any) -> PageProgram:
    """The program that a page runs for each token.

        token  (1, 1)
        past   (1, 2 + N, L·D), what each layer has read at each token, behind two rows that no query sees:
               torch.export takes lengths of 0 and 1 as fixed. The last row, the token's own, may hold
               anything

    Outputs: ``logits`` (1, 1, V) and ``shares`` (P, 1, 1, V) of the token that follows, ``weights`` of each
    layer (1, H, 1, 2 + N), and ``row`` (1, 1, L·D), the last row of ``past`` as it should be.
    """

    def step(token: Tensor, past: Tensor) -> dict[str, Any]:
        x = embedded = model.table(token)  # (1, 1, D)
        width = x.shape[-1]
        row, weights = [], []
        mask = (torch.arange(past.shape[1]) >= UNSEEN)[None]  # (1, 2 + N)
        with keeping(model) as (heads, networks):
            for number, layer in enumerate(model.layers):
                row.append(x)
                before = past[:, :-1, number * width : (number + 1) * width]
                normed = layer.self_attention_norm(torch.cat([before, x], 1))  # (1, 2 + N, D)
                attended, weights_here = layer.self_attention(
                    normed[:, -1:], normed, mask=mask, is_causal=True, need_weights=True
                )
                x = x + attended
                x = x + layer.feed_forward(layer.feed_forward_norm(x))
                weights.append(weights_here)
        found = shares_in(model, Run(embedded, heads, networks, weights, x), model.read_out)
        return {"logits": found.logits, "shares": found.shares, "weights": weights, "row": torch.cat(row, -1)}

    past = torch.zeros(1, UNSEEN + 2, len(model.layers) * model.table.embedding_dim)
    return export_for_page(step, {"token": torch.tensor([[0]]), "past": past}, {"past": {1: "N"}})


def check_vocabulary(model: Any, vocabulary: Sequence[str]) -> None:
    count = model.table.num_embeddings
    if isinstance(vocabulary, str) or len(vocabulary) != count or len({*vocabulary}) != count:
        raise ValueError(
            f"vocabulary must hold {count} different names, one for each row of model.table, got "
            f"{len(vocabulary)}, {len({*vocabulary})} of them different"
        )


def check_arguments(model: Any, start: str, most: int, temperature: float, head: Any) -> None:
    if not isinstance(start, str) or not start.strip():
        raise ValueError(f"start must be a text of one token or more, got {start!r}")
    if most < 2:
        raise ValueError(f"most must be 2 tokens or more, got {most}")
    if not 0 <= temperature <= HOTTEST:
        raise ValueError(f"temperature must be from 0 to {HOTTEST}, got {temperature}")
    heads = [(at, h) for at, layer in enumerate(model.layers) for h in range(layer.self_attention.num_heads)]
    if head is not None and tuple(head) not in heads:
        raise ValueError(f"head must be None or one of {heads}, got {head!r}")


class WhoSaid(CellWidget):
    """The widget that ``who_said`` returns."""

    _esm = read_module(*SCRIPTS)
    _css = STYLE + HERE.with_suffix(".css").read_text(encoding="utf-8")
    words = Dict().tag(sync=True)  # its sentences, in the language of the lesson
    page = Dict().tag(sync=True)  # the step for the worker, the names of the parts, the width of a row
    vocabulary: List = List().tag(sync=True)
    start = Unicode().tag(sync=True)
    spaced = Bool(True).tag(sync=True)
    most = Int(96).tag(sync=True)
    temperature = Float(0.0).tag(sync=True)
    account = Dict().tag(sync=True)  # of the first text, where Python computes: see who_said_large.py
    kept = Dict().tag(sync=True)  # {text: account} of texts to choose from
    alone = Bool(False).tag(sync=True)  # whether the page has no Python to ask
    head: List = List().tag(sync=True)  # layer and head; empty for the one that wrote most

    def __init__(self, **state: Any):
        for name, value in state.items():
            setattr(self, name, value)
        super().__init__()  # last, so that the browser gets all of it at once

    def __repr__(self) -> str:
        """The text in its place on a page that runs no widgets."""
        return words_here()["who_said"]["not_alive"].format(start=self.start)

    def close(self) -> None:
        # JupyterLab keeps the state of a closed widget.
        self.page, self.words, self.account, self.kept, self.vocabulary = {}, {}, {}, {}, []
        super().close()
