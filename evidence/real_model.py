"""Measures what the heads of lesson 08's real model do, over many prompts.

    mha fetch                              # brings the model
    python -m evidence.real_model          # prints what was measured
    python -m evidence.real_model --write  # also puts it, and what the lesson's slides ask of the model, into
                                           # mha_lib/classroom/heads/real_heads.json and real_answers.json

A quarter of an hour on one quiet core: each of 270 heads is taken away on 105 prompts. Two thirds of the
prompts, names and sentences were looked at while the lesson was written; all numbers are told of both parts,
"shown" and "held back". What is measured is kept in build/real_model/, so that a run that was stopped goes
on; delete that folder after a change of prompts.
"""

import argparse
import random
import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from statistics import fmean, median
from typing import Any, NamedTuple

import torch
from torch import Tensor

from evidence.heads import run_cells
from evidence.tables import Table, write_table
from mha_lib import LanguageModel, MultiHeadAttention
from mha_lib.classroom.heads import head_measures, patch_map
from mha_lib.classroom.heads.asked import ANSWERS, MEASURED
from mha_lib.classroom.heads.prompts import HELD_BACK, KINDS, SENTENCES, SHOWN, Prompt, prompts
from mha_lib.classroom.heads.shares import by_head, keeping, logit_shares, replaced, replacing, run
from mha_lib.classroom.lesson.language import source_folder
from mha_lib.classroom.real_model import load_real_model

ROOT = Path(__file__).parents[1]
LESSON = source_folder(ROOT, "en") / "08_real_model.ipynb"
ASKING = ("imports", "asked", "riddle-drawn", "speaks-table", "accounts", "looks", "patching")
KEPT = ROOT / "build" / "real_model"
PARTS = {"shown": False, "held back": True}
SEEDS = {"shown": range(12), "held back": range(12, 18)}
PREVIOUS, OTHERS = (16, 0), [(11, 1), (1, 2), (2, 1)]  # heads that look at the token before
WINDOW = 16  # tokens
INDUCTION = [(18, 6), (17, 4), (17, 3), (17, 5), (18, 7)]
# The heads that are taken away: from words said twice and lists, and from each kind of prompts.
NOTES = {"all": [], "16.0": [PREVIOUS], "18.6": INDUCTION[:1], "five": INDUCTION}
NOTES |= {f"{layer}.{head}": [(layer, head)] for layer, head in OTHERS}
NUMBER = {"both": [(26, 0), (27, 8)], "others": [(26, 1), (27, 2)]}
REMOVED: dict[str, dict[str, list[tuple[int, int]]]] = {
    "drinks": {"23.3": [(23, 3)], "both": [(23, 3), (20, 0)]},
    "plurals": NUMBER,
    "singulars": NUMBER,
    "lists": NOTES,
    "brackets": {"26.6": [(26, 6)], "26.0": [(26, 0)]},
}


class Batch(NamedTuple):
    """Prompts of as many tokens."""

    tokens: Tensor  # (B, N)
    places: dict[str, Tensor]  # (B,) each
    answers: Tensor  # (B, 2), right and wrong
    prompts: list[Prompt]


class Real(NamedTuple):
    model: LanguageModel
    tokenizer: Any
    means: Tensor  # (L, H, d), of each head over 20 sentences

    def one(self, word: str) -> int:
        (token,) = self.tokenizer.encode(word).ids
        return token


def batches(real: Real, asked: list[Prompt]) -> Iterator[Batch]:
    by_length = defaultdict(list)
    for prompt in asked:
        encoded = real.tokenizer.encode(prompt.text)
        by_length[len(encoded.ids)].append((prompt, encoded))
    for each in by_length.values():
        places = {
            name: torch.tensor([encoded.char_to_token(prompt.places[name]) for prompt, encoded in each])
            for name in each[0][0].places
        }
        answers = [[real.one(p.right), real.one(p.wrong)] if p.right else [0, 0] for p, _ in each]
        tokens = torch.tensor([encoded.ids for _, encoded in each])
        yield Batch(tokens, places, torch.tensor(answers), [prompt for prompt, _ in each])


def sentences(real: Real, part: str) -> Tensor:
    """20 texts or 10 of three sentences each, (B, N): as far as the shortest goes, 40 tokens at most."""
    own = SENTENCES[20:] if PARTS[part] else SENTENCES[:20]
    texts = [real.tokenizer.encode(" ".join([*own, *own][at : at + 3])).ids for at in range(len(own))]
    return torch.tensor([text[: min(40, *map(len, texts))] for text in texts])


def leads(model: LanguageModel, x: Tensor, answers: Tensor) -> tuple[Tensor, Tensor]:
    """Of the last tokens x (B, D): the lead of the right answer (B,), and whether it is the likeliest."""
    logits = model.norm(x) @ model.read_out.T  # (B, V)
    own = logits.gather(1, answers)
    return own[:, 0] - own[:, 1], logits.argmax(-1) == answers[:, 0]


@torch.no_grad()
def asked(real: Real, batch: Batch) -> dict[str, Tensor]:
    """Of each prompt: its lead, whether right is likeliest, and each head's weights and share, (B, L, H)."""
    model = real.model
    found = logit_shares(model, batch.tokens, batch.answers[:, None].expand(-1, batch.tokens.shape[1], -1))
    weights = torch.stack([each[:, :, -1] for each in found.weights], 1)  # (B, L, H, N)
    shares = found.shares[:, :, -1]  # (P, B, 2)
    heads = [at for at, part in enumerate(found.parts) if part[0] == "head"]
    shape = (-1, *weights.shape[1:3])
    result = {"lead": found.logits[:, -1, 0] - found.logits[:, -1, 1]}
    result["likeliest"] = (model(batch.tokens)[:, -1].argmax(-1) == batch.answers[:, 0]).float()
    for name, column in (("right", 0), ("wrong", 1)):
        result[f"share {name}"] = shares[heads, :, column].T.reshape(shape)
    for name, at in batch.places.items():
        result[f"on {name}"] = weights[torch.arange(len(at)), :, :, at]
    result["on first"] = weights[..., 0]
    return result


@torch.no_grad()
def without_each(real: Real, batch: Batch) -> dict[str, Tensor]:
    """The lead (B, L, H) without each head."""
    model, count = real.model, len(batch.tokens)
    x, found = model.embed(batch.tokens), []
    for number, layer in enumerate(model.layers):
        attention = layer.self_attention
        rows = x.repeat(attention.num_heads, 1, 1)  # (H·B, N, D)
        own = [
            (slice(h * count, (h + 1) * count), slice(None), h, real.means[number, h])
            for h in range(attention.num_heads)
        ]
        with replacing(attention, own):
            rows = layer(rows, is_causal=True)
        for later in model.layers[number + 1 :]:
            rows = later(rows, is_causal=True)
        answers = batch.answers.repeat(attention.num_heads, 1)
        found.append(leads(model, rows[:, -1], answers)[0].view(-1, count).T)
        x = layer(x, is_causal=True)
    return {"lead without": torch.stack(found, 1)}


def corrupted(real: Real, batch: Batch) -> Tensor:
    """The plurals with their subject in the singular: then the other answer is right."""
    one = {
        many: single
        for words in (SHOWN, HELD_BACK)
        for many, single in zip(words.plural.split(), words.singular.split(), strict=True)
    }
    tokens = batch.tokens.clone()
    for row, prompt in enumerate(batch.prompts):
        tokens[row, batch.places["subject"][row]] = real.one(f" {one[prompt.text.split()[1]]}")
    return tokens


def kept(name: str, measure: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """Return the result of ``measure``, from the file of this name or measured now."""
    file = KEPT / f"{name}.pt"
    if not file.exists():
        KEPT.mkdir(parents=True, exist_ok=True)
        torch.save(measure(), file)
    return torch.load(file, weights_only=True)


def of_prompts(name: str, measure: Any, real: Real, kind: str, part: str) -> dict[str, Tensor]:
    """Return the results of ``measure`` on all prompts of a kind."""

    def of_all() -> dict[str, Tensor]:
        found = [measure(real, batch) for batch in batches(real, prompts(kind, PARTS[part]))]
        return {key: torch.cat([each[key] for each in found]) for key in found[0]}

    return kept(f"{name}-{kind}-{part}", of_all)


def patched(real: Real, batch: Batch) -> dict[str, Tensor]:
    """The share of the lead (B, L, H) that each head brings back, at the last token."""
    return {
        "patched": patch_map(real.model, batch.tokens, corrupted(real, batch), batch.answers, -1).recovered
    }


def maps_of(real: Real, kind: str, part: str) -> dict[str, Tensor]:
    """The maps (L, H) of a kind of prompts: medians over prompts, and the shares that are right."""
    of_each = of_prompts("asked", asked, real, kind, part)
    maps = {name: x.median(0).values for name, x in of_each.items() if x.dim() == 3}
    if kind == "pronouns":
        better = of_each["on meant"] > of_each["on other"]
        return {"meant": better.float().mean(0)} | {
            name: x for name, x in maps.items() if name.startswith("on ")
        }
    if kind == "plurals":
        lost = of_prompts("without", without_each, real, kind, part)["lead without"]
        maps["without"] = (lost > 0).float().mean(0)
        maps["lost"] = (of_each["lead"][:, None, None] - lost).median(0).values
        maps["patched"] = of_prompts("patched", patched, real, kind, part)["patched"].median(0).values
    return maps


@torch.no_grad()
def means_of(model: LanguageModel, tokens: Tensor) -> Tensor:
    return torch.stack([heads.mean((0, 1)) for heads in run(model, tokens).heads])  # (L, H, d)


def removing(real: Real, heads: list[tuple[int, int]]) -> Any:
    return replaced(real.model, {head: real.means[head] for head in heads})


def loss_of(model: LanguageModel, tokens: Tensor, start: int) -> tuple[Tensor, Tensor]:
    """The loss of each text (B,) from a token on, and the share that is right."""
    logits = model(tokens)[:, :-1][:, start:]
    comes = tokens[:, 1:][:, start:]
    losses = torch.nn.functional.cross_entropy(logits.transpose(1, 2), comes, reduction="none")
    return losses.mean(1), (logits.argmax(-1) == comes).float().mean(1)


def words_twice(real: Real, seed: int) -> tuple[Tensor, Tensor]:
    """30 random words said twice (1, 60), and a control whose first half is another one."""
    names = real.tokenizer.get_vocab()  # "Ġ" is the blank before a word
    pool = sorted(token for name, token in names.items() if re.fullmatch("Ġ[a-z]{4,}", name))
    words = random.Random(seed).sample(pool, 60)
    return torch.tensor([words[:30] * 2]), torch.tensor([words[30:] + words[:30]])


@torch.no_grad()
def repeats(real: Real, part: str) -> dict[str, Any]:
    """Words said twice: where heads look beside their control, and the loss without some."""
    model = real.model
    found: dict[str, list[Any]] = defaultdict(list)
    again = torch.zeros(1, 60, dtype=torch.bool)
    again[:, 30:] = True
    others = random.Random(1)
    for seed in SEEDS[part]:
        tokens, control = words_twice(real, seed)
        measures = head_measures(model, tokens, queries=again, control=control)
        found["map before"].append(measures.weights[..., 0])
        found["map same"].append(measures.weights[..., 4])
        assert measures.control is not None
        found["map control"].append(measures.control[..., 4])
        draw = [(17 + at // 9, at % 9) for at in others.sample(range(18), 18)]
        for name, heads in (NOTES | {"others": [h for h in draw if h not in INDUCTION][:5]}).items():
            with removing(real, heads):
                loss, right = loss_of(model, tokens, 29)
            found[f"loss {name}"].append(loss.item())
            found[f"right {name}"].append(right.item())
        for name in ("queries", "keys", "values"):
            for measure, number in zip(("loss", "right"), note_hidden(real, tokens, name), strict=True):
                found[f"{measure} {name}"].append(number)
    return {
        name: torch.stack(x).median(0).values if name.startswith("map") else x for name, x in found.items()
    }


def heads_in(attention: MultiHeadAttention, *streams: Tensor) -> Tensor:
    """Return the heads' outputs from queries, keys and values, (B, N, H, d)."""
    found: list[Tensor] = []
    hook = attention.W_o.register_forward_pre_hook(
        lambda _, given: found.append(by_head(given[0], attention))
    )
    attention(*streams, is_causal=True)
    hook.remove()
    return found[0]


@torch.no_grad()
def note_hidden(real: Real, tokens: Tensor, hidden_from: str) -> tuple[float, float]:
    """Loss and share right when five heads read, in queries, keys or values, a text without head 16.0."""
    model = real.model
    x = y = model.embed(tokens)  # y: without 16.0
    for number, layer in enumerate(model.layers):
        attention, own = layer.self_attention, [head for at, head in INDUCTION if at == number]
        blind = []
        if own:
            q, k, v = (
                layer.self_attention_norm(y if name == hidden_from else x)
                for name in ("queries", "keys", "values")
            )
            heads = heads_in(attention, q, k, v)
            blind = [(slice(None), slice(None), head, heads[:, :, head]) for head in own]
        with replacing(attention, blind):
            x = layer(x, is_causal=True)
        removed = (
            [(slice(None), slice(None), PREVIOUS[1], real.means[PREVIOUS])] if number == PREVIOUS[0] else []
        )
        with replacing(attention, removed):
            y = layer(y, is_causal=True)
    logits = (model.norm(x) @ model.read_out.T)[0, 29:-1]
    comes = tokens[0, 30:]
    return torch.nn.functional.cross_entropy(logits, comes).item(), (
        logits.argmax(-1) == comes
    ).float().mean().item()


@torch.no_grad()
def at_rest(real: Real, part: str) -> dict[str, Any]:
    """Sentences: heads at rest on the first token, and the loss when it is hidden, or out of a window."""
    model, tokens = real.model, sentences(real, part)
    with keeping(model) as (_, networks):
        weights, streams, x = [], [], model.embed(tokens)
        for layer in model.layers:
            x, here = layer(x, is_causal=True, need_weights=True)
            weights.append(here[:, :, 1:, 0].mean(-1))  # (B, H)
            streams.append(x.norm(dim=-1))
    first = torch.stack(weights, 1)  # (B, L, H)
    written = torch.stack([each[:, 0].norm(dim=-1) for each in networks], 1)  # (B, L)
    causal = torch.ones(2 * tokens.shape[1:], dtype=torch.bool).tril()  # (N, N), True = may attend
    hidden, sink = causal.clone(), causal.tril(-WINDOW).logical_not() & causal
    window = sink.clone()
    hidden[1:, 0] = False
    sink[:, 0] = True
    loss_hidden, second = late_loss(model, tokens, hidden)
    return {
        "map first": first.median(0).values,
        "map second": second.median(0).values,
        "at rest": (first > 0.5).sum((1, 2)).tolist(),
        "rest second": (second > 0.5).sum((1, 2)).tolist(),
        "stream first": streams[15][:, 0].tolist(),
        "stream second": streams[15][:, 1].tolist(),
        "writer": written.argmax(1).tolist(),
        "loss": late_loss(model, tokens, causal)[0],
        "loss hidden": loss_hidden,
        "loss window": late_loss(model, tokens, window)[0],
        "loss sink": late_loss(model, tokens, sink)[0],
    }


def late_loss(model: LanguageModel, tokens: Tensor, mask: Tensor) -> tuple[list[float], Tensor]:
    """The loss (B,) of what comes after a window of tokens, and the heads' weight on the second (B, L, H)."""
    x, second = model.embed(tokens), []
    for layer in model.layers:
        normed = layer.self_attention_norm(x)
        mixed, weights = layer.self_attention(normed, normed, mask=mask, need_weights=True)
        second.append(weights[:, :, 2:, 1].mean(-1))
        x = x + mixed
        x = x + layer.feed_forward(layer.feed_forward_norm(x))
    logits = (model.norm(x) @ model.read_out.T)[:, WINDOW:-1].transpose(1, 2)
    losses = torch.nn.functional.cross_entropy(logits, tokens[:, WINDOW + 1 :], reduction="none")
    return losses.mean(1).tolist(), torch.stack(second, 1)


@torch.no_grad()
def more_of_drinks(real: Real, part: str) -> dict[str, Any]:
    """Measure what 23.3 writes of the names, and what 23.0 does without 20.0."""
    found: dict[str, list[Any]] = defaultdict(list, right_without(real, "drinks", part))
    names = torch.tensor([real.one(f" {name}") for name in (SHOWN.women + " " + SHOWN.men).split()])
    for batch in batches(real, prompts("drinks", PARTS[part])):
        tokens, model = batch.tokens, real.model
        rows = torch.arange(len(tokens))
        with removing(real, [(20, 0)]):
            changed = run(model, tokens)
        lead, _ = leads(model, changed.x[:, -1], batch.answers)
        found["lead 20.0"] += lead.tolist()
        looks = changed.weights[23][rows, 0, -1, batch.places["getter"]]
        found["looks 20.0"] += looks.tolist()
        others = names[None].expand(len(tokens), -1)
        chosen = torch.cat([batch.answers, others], 1)
        split = logit_shares(model, tokens, chosen[:, None].expand(-1, tokens.shape[1], -1))
        of_head = split.shares[split.parts.index(("head", 23, 3)), :, -1]  # (B, 2 + 16)
        is_other = (others != batch.answers[:, :1]) & (others != batch.answers[:, 1:])
        mean = (of_head[:, 2:] * is_other).sum(1) / is_other.sum(1)
        found["writes giver"] += (of_head[:, 1] - mean).tolist()
        found["writes getter"] += (of_head[:, 0] - mean).tolist()
    return dict(found)


@torch.no_grad()
def right_without(real: Real, kind: str, part: str) -> dict[str, list[float]]:
    """Return for each prompt whether it is right without some heads (lead above 0; lists: likeliest)."""
    found: dict[str, list[float]] = defaultdict(list)
    for batch in batches(real, prompts(kind, PARTS[part])):
        for name, heads in REMOVED[kind].items():
            with removing(real, heads):
                lead, likeliest = leads(real.model, run(real.model, batch.tokens).x[:, -1], batch.answers)
            found[f"right {name}"] += (likeliest if kind == "lists" else lead > 0).float().tolist()
    return dict(found)


def numbers(x: Any) -> list:
    """Rounded, so that the table stays small: a map as a list for each layer."""
    if isinstance(x, Tensor):
        x = x.tolist()
    return [numbers(each) if isinstance(each, list) else round(each, 2) for each in x]


def table() -> Table:
    model, tokenizer = load_real_model()
    real = Real(model, tokenizer, torch.empty(0))
    real = real._replace(means=means_of(model, sentences(real, "shown")))
    found: Table = {}
    for part in PARTS:
        measures = {"sentences": partial(at_rest, real, part), "said twice": partial(repeats, real, part)}
        measures |= {f"of {kind}": partial(right_without, real, kind, part) for kind in REMOVED}
        measures["of drinks"] = partial(more_of_drinks, real, part)
        for name, measure in measures.items():
            measured = kept(f"{name}-{part}", measure)
            found[f"{name}, {part}"] = {key: numbers(x) for key, x in measured.items()}
            print(name, part, flush=True)
        for kind in KINDS:
            of_each = of_prompts("asked", asked, real, kind, part)
            maps = {name: numbers(x) for name, x in maps_of(real, kind, part).items()}
            flat = {name: numbers(x) for name, x in of_each.items() if x.dim() == 1}
            found[f"{kind}, {part}"] = flat | maps
            print(kind, part, flush=True)
    return found


def answers() -> Table:
    """Return the model's answers to what the slides ask, by function and arguments."""
    lesson = run_cells(LESSON, *ASKING)
    for head in ("23.3", "23.0", "20.0"):
        lesson["looks"](head)
    lesson["accounts"]()
    lesson["one_pair"]()
    return lesson["real"].found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--write", action="store_true", help="keep the results beside the code that reads them"
    )
    given = parser.parse_args()
    found = table()
    for part, measures in found.items():
        for name, x in measures.items():
            if not isinstance(x[0], list):
                print(f"{part}, {name}: {median(x):.2f} ({min(x):.2f} to {max(x):.2f}), mean {fmean(x):.2f}")
    if given.write:
        write_table(MEASURED, found)
        write_table(ANSWERS, answers())


if __name__ == "__main__":
    main()
