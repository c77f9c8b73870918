"""Can two layers do what heads side by side cannot? Seeds of small models on repeated tokens.

    python -m evidence.layers           # trains what is not kept yet; prints what all models reach
    python -m evidence.layers --write   # also puts it into evidence/results/layers.json
    python -m evidence.layers --kept    # trains nothing, and measures the models that are kept

All models take about half an hour of one quiet core, 5 to 10 seconds each. The lesson's own cells make and
train them. They are kept in build/layers/; to measure them takes two minutes. Delete that folder after a
change of the task, of a model or of the training. A test trains one of them anew.
"""

import argparse
from collections.abc import Callable
from copy import deepcopy
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from evidence.heads import run_cells
from evidence.tables import Table, write_table
from mha_lib import EncoderLayer, MultiHeadAttention
from mha_lib.classroom.explorer import TypedText
from mha_lib.classroom.lesson.language import source_folder
from mha_lib.classroom.trainings import VOCABULARY, repeated_tokens, share_right
from mha_lib.classroom.trainings.repeated_tokens import LENGTH, RepeatedTokens

ROOT = Path(__file__).parents[1]
TABLE, KEPT = ROOT / "evidence" / "results" / "layers.json", ROOT / "build" / "layers"
SEEDS, MANY = range(24), range(28)
STEPS, EVERY = 400, 25  # steps of a training, and between two points of a curve

Measures = dict[str, float]

CELLS = "letters layer-code layers-code train-code shuffled-code circuit-code composition-code shares-code"
LESSON = run_cells(source_folder(ROOT, "en") / "04_layers.ipynb", "imports", *CELLS.split())
LESSON["kept_steps"] = lambda steps, *parts: range(steps)
AttentionLayers: Any = LESSON["AttentionLayers"]
on_diagonal, qk_map, ov_map = LESSON["on_diagonal"], LESSON["qk_map"], LESSON["ov_map"]


class KeysOfTheTokenBefore(AttentionLayers):
    """One layer of four heads that is given what it lacks: each key is made of the token before. With one
    head one of 28 seeds finds nothing, whatever the rate and with clipped gradients.

    Source: the "smeared keys" of Olsson et al. 2022, argument 2, where a number that is learnt mixes both.
    """

    def __init__(self):
        super().__init__(num_layers=1, num_heads=4)

    def forward(self, tokens, blind="", head_masks=(None, None)):
        x = self.token(tokens)
        before = torch.cat([x[:, :1], x[:, :-1]], dim=1)  # nothing stands before the first token
        written, weights = self.layers[0](x, before, x)
        return self.read_out(x + written), [weights]


class Blocks(nn.Module):
    """Layers with a feed-forward network after each attention."""

    def __init__(self, num_layers: int, num_heads: int):
        super().__init__()
        self.token = nn.Embedding(VOCABULARY, 64)
        self.blocks = nn.ModuleList(EncoderLayer(64, num_heads, 256, rotary=True) for _ in range(num_layers))
        self.read_out = nn.Linear(64, VOCABULARY)

    def forward(self, tokens: Tensor) -> tuple[Tensor, list[Tensor]]:
        x, all_weights = self.token(tokens), []
        for block in self.blocks:
            x, weights = block(x, is_causal=True, need_weights=True)
            all_weights.append(weights)
        return self.read_out(x), all_weights


class TokensAndPlaces(nn.Module):
    """A vector for each token and one for each position, added."""

    def __init__(self) -> None:
        super().__init__()
        self.token = nn.Embedding(VOCABULARY, 64)
        self.place = nn.Embedding(LENGTH - 1, 64)

    def forward(self, tokens: Tensor) -> Tensor:
        return self.token(tokens) + self.place.weight


def with_learnt_positions(num_layers: int, num_heads: int) -> nn.Module:
    model: Any = AttentionLayers(num_layers, num_heads)
    model.token = TokensAndPlaces()
    for layer in model.layers:
        layer.attention.rotary = None
    return model


def with_head_dim(num_layers: int, num_heads: int, head_dim: int) -> nn.Module:
    model: Any = AttentionLayers(num_layers)
    for layer in model.layers:
        layer.attention = MultiHeadAttention(64, num_heads, head_dim=head_dim, rotary=True)
    return model


class Row(NamedTuple):
    make: Callable[[], nn.Module]
    steps: int = STEPS
    seeds: range = SEEDS


TWO_LAYERS, FOUR_HEADS = "2 layers, 1 head", "2 layers, 4 heads"
ONE_LAYER = "1 layer, 8 heads"  # measured on texts unlike those of training, as two layers are
KEYS_BEFORE = "1 layer, 4 heads, keys of the token before"
ROWS = {
    TWO_LAYERS: Row(AttentionLayers),
    FOUR_HEADS: Row(lambda: AttentionLayers(2, 4)),
    "2 layers, 2 heads": Row(lambda: AttentionLayers(2, 2)),
    "2 layers, 1 head, learnt positions": Row(lambda: with_learnt_positions(2, 1)),
    "2 layers, 1 head, feed-forward": Row(lambda: Blocks(2, 1)),
    "1 layer, 1 head": Row(lambda: AttentionLayers(1, 1)),
    "1 layer, 4 heads": Row(lambda: AttentionLayers(1, 4)),
    ONE_LAYER: Row(lambda: AttentionLayers(1, 8)),
    "1 layer, 2 heads, each 64 wide": Row(lambda: with_head_dim(1, 2, 64)),  # parameters as in the first row
    KEYS_BEFORE: Row(KeysOfTheTokenBefore, 200, MANY),
}


def draw_exam(size: int, seed: int = 99, **options) -> RepeatedTokens:
    return repeated_tokens(size, torch.Generator().manual_seed(seed), **options)


EXAM, SMALL_EXAM = draw_exam(500), draw_exam(100, seed=98)


def right(model: nn.Module, exam: RepeatedTokens = EXAM, **options) -> float:
    return share_right(model(exam.tokens[:, :-1], **options)[0], exam)


def previous_scores(weights: Tensor) -> Tensor:
    """The mean weight on the token before, by head: ``(B, H, N, N) -> (H,)``; the first token has none."""
    return weights.diagonal(-1, 2, 3).mean((0, 2))


def induction_scores(weights: Tensor, batch: RepeatedTokens) -> Tensor:
    """The mean weight, before a token that can be known, on the place where it was said: ``(H,)``."""
    sample, here = batch.knowable[:, 1:].nonzero(as_tuple=True)  # row i predicts token i + 1
    there = here + 1 - batch.ago[sample, here + 1]
    return weights[sample, :, here, there].mean(0)


class Point(NamedTuple):
    """A point of a curve: the share right, and the highest score of a head in each layer."""

    right: float
    previous: list[float]
    induction: list[float]


@torch.no_grad()
def point(model: nn.Module, batch: RepeatedTokens = SMALL_EXAM) -> Point:
    logits, weights = model(batch.tokens[:, :-1])
    return Point(
        share_right(logits, batch),
        [previous_scores(layer).max().item() for layer in weights],
        [induction_scores(layer, batch).max().item() for layer in weights],
    )


def train(model: nn.Module, seed: int, steps: int = STEPS) -> list[Point]:
    """Train the model; return its curve, a point after every 25 steps."""
    states = [deepcopy(model.state_dict())]
    states += LESSON["train"](model, seed, steps, watch=range(EVERY, steps + 1, EVERY)).values()
    curve = []
    for state in states:  # the last one is that of the end
        model.load_state_dict(state)
        curve.append(point(model))
    return curve


def make(name: str, seed: int) -> nn.Module:
    torch.manual_seed(seed)
    return ROWS[name].make()


def file_of(name: str, seed: int) -> Path:
    return KEPT / f"{name}, seed {seed}.pt"


def trained(name: str, seed: int) -> tuple[nn.Module, list[Point]]:
    """A model of the table and its curve, kept or trained now."""
    file, model = file_of(name, seed), make(name, seed)
    if file.exists():
        kept = torch.load(file)
        model.load_state_dict(kept["model"])
        return model, [Point(*each) for each in kept["curve"]]
    curve = train(model, seed, ROWS[name].steps)
    KEPT.mkdir(parents=True, exist_ok=True)
    torch.save({"model": model.state_dict(), "curve": [list(each) for each in curve]}, file)
    return model, curve


def ablations(model: nn.Module) -> Measures:
    """Measure two layers of one head without a layer, and where layer 1 does not see layer 0."""
    on, off = torch.ones(1), torch.zeros(1)
    found = {
        "right without layer 0": right(model, head_masks=[off, on]),
        "right without layer 1": right(model, head_masks=[on, off]),
    }
    names = {"q": "queries", "k": "keys", "v": "values", "qv": "queries and values"}
    for blind, seen in names.items():
        found[f"right, layer 0 hidden from the {seen}"] = right(model, blind=blind)
    inputs = EXAM.tokens[:, :-1]
    written = model(inputs)[0] - model(inputs, head_masks=[on, off])[0]  # the read-out is linear
    return found | {"right by what layer 1 writes alone": share_right(written, EXAM)}


def beyond_training(model: nn.Module) -> Measures:
    """What the model does with texts and blocks that training had none of."""
    found = {
        "right, twice as long": right(model, draw_exam(250, length=2 * LENGTH - 1)),
        "right, four times as long": right(model, draw_exam(125, length=4 * LENGTH - 3)),
    }
    for size in (3, 5, 17, 19, 22):
        found[f"right, blocks of {size}"] = right(model, draw_exam(200, block=(size, size), length=61))
    return found


LETTERS: str = LESSON["letters"]
SAID, EXCHANGED = "PYTHONIC", "PYHTONIC"  # what the lesson types


def typed(model: nn.Module) -> Measures:
    """How many rows expect the right letter in a word said again, and in one with two letters exchanged."""
    again, exchanged = SAID + SAID[:-1], SAID + EXCHANGED[:-1]

    def rows(text: str, **options: str) -> list[str]:
        return TypedText(partial(model, **options), LETTERS).rows(text, layer=1)[len(SAID) :]

    def right_of(found: list[str]) -> list[str]:
        return [row for row in found if row.replace(" → ", "") in SAID]

    weights, _ = TypedText(model, LETTERS).maps(again, layer=1)
    found = rows(exchanged)
    return {
        "typed: rows of 7 right": len(right_of(rows(again))),
        "typed: weight of the last I on the C": weights[0, -1, len(SAID) - 1].item(),
        "typed, exchanged: rows of the 6 but T right": len({*right_of(found)} - {"T → H"}),
        "typed, exchanged: row of T right": float("T → H" in found),
        "typed, exchanged: row of T says what followed H": float("T → O" in found),
        "typed, exchanged, layer 0 hidden from the queries: rows of 7 right": len(
            right_of(rows(exchanged, blind="q"))
        ),
    }


def read_off(model: Any) -> Measures:
    """What the weights of two layers of one head say without any input.

    Source: Elhage et al. 2021, "Analyzing a Two-Layer Model": composition scores, and random matrices of the
    same shapes to compare them with.
    """
    diagonal, chance = "rows with their largest {} on the diagonal", LESSON["chance"]
    return {
        f"QK through the keys: {diagonal.format('score')}": on_diagonal(qk_map(model, through_layer_0=True)),
        f"QK without layer 0: {diagonal.format('score')}": on_diagonal(qk_map(model, through_layer_0=False)),
        f"OV: {diagonal.format('logit')}": on_diagonal(ov_map(model)),
        **{
            f"composition with layer 0 of the {name}": score
            for name, score in LESSON["compositions"](model).items()
        },
        "composition of random matrices, mean of 20": sum(chance) / 20,
        "composition of random matrices, largest of 20": max(chance),
    }


def shares_of_heads(model: nn.Module) -> Measures:
    """Measure each head of layer 1: its share in the right letter's logit, and the loss by its removal."""
    terms = LESSON["split_logits"](model)
    added = LESSON["of_right_letter"](terms)
    shares, heads = (added / added.sum()).tolist(), range(1, 5)
    without = [share_right(terms.sum(0) - terms[head], EXAM) for head in heads]
    most = max(heads, key=lambda head: shares[head])
    return {
        "share of the stream before layer 1": shares[0],
        "share of the head that adds most": shares[most],
        "share of the head that adds least": min(shares[1:]),
        "right without the head that adds most": without[most - 1],
        "right without the head that is needed most": min(without),
        "right without all four": share_right(terms[0], EXAM),
        "the head that adds most is needed most": float(without[most - 1] == min(without)),
    }


MYSTERY = "the riddle of the letter before"


def train_on_the_riddle(seed: int) -> Measures:
    """Train two layers of one head on another riddle, which they solve by their values."""
    torch.manual_seed(seed)
    model = AttentionLayers(2, 1)
    LESSON["train"](model, seed, 200, task=LESSON["shuffled"])
    tokens, wanted = LESSON["shuffled"](300, torch.Generator().manual_seed(99))
    asked = wanted >= 0
    ways = {
        "": "",
        "q": ", layer 0 hidden from the queries",
        "k": ", from the keys",
        "v": ", from the values",
    }
    with torch.no_grad():
        answers = {name: model(tokens, blind=blind)[0].argmax(-1) for blind, name in ways.items()}
    return {f"right{name}": (each == wanted)[asked].float().mean().item() for name, each in answers.items()}


def moment(values: list[float], level: float) -> float:
    """The step at which a curve first reaches the level, on the line between two points."""
    after = next((i for i, value in enumerate(values) if value >= level), len(values) - 1)
    if after == 0 or values[after] < level:
        return EVERY * after
    before = values[after - 1]
    return EVERY * (after - 1 + (level - before) / (values[after] - before))


def sudden(curve: list[Point]) -> Measures:
    """When it comes: at which step half of the way is made."""
    shares = [each.right for each in curve]
    stripe, pattern = [each.previous[0] for each in curve], [each.induction[1] for each in curve]
    return {
        "step with .25 right": moment(shares, 0.25),
        "step with .9 right": moment(shares, 0.9),
        "step with half of the last previous-token score of layer 0": moment(stripe, stripe[-1] / 2),
        "step with half of the last induction score of layer 1": moment(pattern, pattern[-1] / 2),
        "previous-token score of layer 0": curve[-1].previous[0],
        "previous-token score of layer 1": curve[-1].previous[1],
        "induction score of layer 0": curve[-1].induction[0],
        "induction score of layer 1": curve[-1].induction[1],
    }


def counted(seed: int) -> Measures:
    """Predict by counts of the pairs in all of the training."""
    generator = torch.Generator().manual_seed(seed)
    pairs = torch.cat([repeated_tokens(64, generator).tokens.unfold(1, 2, 1) for _ in range(STEPS)])
    table = torch.zeros(VOCABULARY, VOCABULARY)
    table.index_put_(tuple(pairs.flatten(0, 1).T), torch.ones(()), accumulate=True)
    return {"right by counts of pairs in training": share_right(table[EXAM.tokens[:, :-1]], EXAM)}


def measure(name: str, seed: int) -> dict[str, Measures]:
    """All measures of one model, by the name of a part of the table."""
    model, curve = trained(name, seed)
    with torch.no_grad():
        found = {"right": {name: right(model)}}
        if name == TWO_LAYERS:
            parts = ablations(model) | beyond_training(model) | typed(model)
            found[TWO_LAYERS] = parts | read_off(model) | sudden(curve) | counted(seed)
        if name == ONE_LAYER:
            found[ONE_LAYER] = beyond_training(model)
        if name == FOUR_HEADS:
            found[FOUR_HEADS] = shares_of_heads(model)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--kept", action="store_true", help="train nothing")
    parser.add_argument("--write", action="store_true", help=f"write {TABLE.relative_to(ROOT)}")
    options = parser.parse_args()
    torch.set_num_threads(1)  # models this small gain nothing from more
    table: Table = {"right": {}}
    for name, row in ROWS.items():
        for seed in row.seeds:
            if options.kept and not file_of(name, seed).exists():
                continue
            for part, measures in measure(name, seed).items():
                for each, number in measures.items():
                    table.setdefault(part, {}).setdefault(each, []).append(round(number, 3))
    for seed in () if options.kept else SEEDS:
        for each, number in train_on_the_riddle(seed).items():
            table.setdefault(MYSTERY, {}).setdefault(each, []).append(round(number, 3))
    for part, rows in table.items():
        print(f"\n{part}")
        for each, numbers in rows.items():
            print(f"  {each}: {min(numbers):.3f} to {max(numbers):.3f} ({len(numbers)} seeds)")
    if options.write:
        write_table(TABLE, table)


if __name__ == "__main__":
    main()
