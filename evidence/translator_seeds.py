"""Lesson 05 makes claims about its translator: this measures them on twelve seeds.

    python -m evidence.translator_seeds           # trains what is not kept yet, and prints all measures
    python -m evidence.translator_seeds --write   # also puts them into evidence/results/translator_seeds.json
    python -m evidence.translator_seeds --kept    # trains nothing, and measures the models that are kept

All of it takes about half an hour of one quiet core. The lesson's own cells measure. Trained models are kept
in build/translator_seeds/: delete that folder after a change of the task, the model or the training. A test
trains one of the brief ones anew.
"""

import argparse
from contextlib import redirect_stdout
from copy import deepcopy
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch

from evidence.heads import run_cells, source_of
from evidence.tables import Table, write_table
from mha_lib.classroom.heads import Head
from mha_lib.classroom.lesson.language import source_folder
from mha_lib.classroom.translator import Training, exact_matches, make_translator

ROOT = Path(__file__).parents[1]
TABLE, KEPT = ROOT / "evidence" / "results" / "translator_seeds.json", ROOT / "build" / "translator_seeds"
LESSON = source_folder(ROOT, "en") / "05_trained_heads.ipynb"
SEEDS, MORE = range(12), 300  # steps with which a translator goes on
CELLS = [
    *("imports", "table", "museum-correct", "exhibits-code", "exhibit-4", "write-code"),
    *("relations-code", "relation-alone", "zeros-helpers", "maps-of", "jobs-code", "shares-of-jobs"),
    *("digit-pairs", "right-without", "right-with"),
]
BROKEN = {  # the relations that do not hold
    "correct": [],
    "exhibit_0": ["later", "alone"],
    "exhibit_1": ["no_copy", "alone"],
    "exhibit_2": ["alone"],
    "exhibit_3": ["alone"],
    "exhibit_4": ["earlier"],
}
ATTENTIONS = ("encoder", "decoder", "cross")

Measures = dict[str, float]
Names = dict[str, Any]


def finish(training: Training, name: str, seed: int, *, train: bool = True, keep: bool = True) -> Training:
    """The training, kept or done now; its model is in eval mode."""
    file = KEPT / f"{name}, seed {seed}.pt"
    if keep and file.exists():
        training.load_state_dict(torch.load(file))
    elif not train:
        raise FileNotFoundError(file)
    else:
        with TemporaryDirectory() as folder:
            training.run(show_progress=False, folder=folder)
        if keep:
            KEPT.mkdir(parents=True, exist_ok=True)
            torch.save(training.state_dict(), file)
    training.model.cpu().eval()
    return training


def translator(seed: int) -> Training:
    return Training(make_translator(seed=seed), seed=seed)


def start() -> Names:
    """The names that the lesson's helpers define."""
    return run_cells(LESSON, *CELLS)


def lesson_with(seed: int, *, train: bool = True) -> Names:
    """The names that the lesson's cells define, with a translator of another seed."""
    names = start()
    names["training"] = finish(translator(seed), "translator", seed, train=train)
    names["translator"] = names["training"].model
    names["exam"] = names["held_out_numbers"](500).tolist()
    names["exam_batch"] = names["make_batch"](names["exam"])
    run(names, "snapshots", "patch-code", "rare-kind", "mended-code")
    names["versions_of_it"] = {"before": names["translator"]}
    for name, draw in (("old draw", "draw_training_numbers"), ("mended draw", "draw_with_gaps")):
        on = Training(deepcopy(names["translator"]), draw=names[draw], steps=MORE, seed=1)
        names["versions_of_it"][name] = finish(on, name, seed, train=train).model
    return names


def run(names: Names, *cells: str) -> None:
    """Run cells of the lesson, and show nothing of what they print."""
    with redirect_stdout(StringIO()):
        for cell in cells:
            exec(compile(source_of(LESSON, cell), cell, "exec"), names)


def share_right(model: Any, numbers: Any, head_masks: Any = None) -> float:
    return exact_matches(model, numbers, head_masks).float().mean().item()


def museum(names: Names, seed: int, *, keep: bool = True) -> Measures:
    """The exhibits, each trained for some seconds, and what exhibit 4 writes with the correct one."""
    exam, found = names["held_out_numbers"](100, max_digits=3), {}
    for name in ("correct", "exhibit_0", "exhibit_1", "exhibit_2", "exhibit_3"):

        def loss(model: Any, batch: Any, name: str = name) -> Any:
            logits, labels = names[name](model, batch)
            return torch.nn.functional.cross_entropy(logits.flatten(0, 1), labels.flatten())

        brief = Training(make_translator(seed=seed), loss, steps=120, batch_size=64, max_digits=3, seed=seed)
        finish(brief, name, seed, keep=keep)
        found[f"{name}: last loss"] = brief.losses[-1]
        found[f"{name}: right"] = share_right(brief.model, exam)
        if name == "correct":
            names["small"] = brief.model
    relations = [names[name] for name in ("later", "earlier", "no_copy", "alone")]
    broken = {
        name: [relation.__name__ for relation in relations if not relation(names[name])] for name in BROKEN
    }
    found["the relations that break are those of the lesson"] = broken == BROKEN
    for number in (345, 333, 40):
        written = names["write"](names["exhibit_4"], number)
        found[f"exhibit_4: {number} right"] = written == names["in_chinese"](number)
    return found


def learning(names: Names) -> Measures:
    """When what is learnt: losses, zeros inside, the alignment."""
    losses, batch = names["training"].losses, names["exam_batch"]
    found = {"first loss": losses[0], "largest of the last 20 losses": max(losses[-20:])}
    found["right"] = share_right(names["translator"], names["exam"])
    chance = names["chance_of_alignment"](batch)
    for step, model in names["models"].items():
        if step == 0:
            continue
        shares = names["right_by_zeros"](model, names["kinds"])
        found[f"step {step}: right, no zeros inside"] = shares[0]
        found[f"step {step}: right, three zeros or more inside"] = shares[3]
        scores = names["alignment_scores"](model, batch)[0]
        found |= {f"step {step}: alignment, best head": scores.max().item()}
        found |= {f"step {step}: alignment, worst head": scores.min().item()}
    return found | {"alignment by chance": chance}


def maps(names: Names) -> Measures:
    """The maps of the trained heads: what all of them have in common."""
    flat = names["entropies"](names["translator"], names["exam_batch"])
    batch = names["exam_batch"]
    weights = names["weights_of"](names["translator"], batch).decoder[0]  # (B, H, T, T)
    own, before = (weights.diagonal(-back, 2, 3)[..., 3 - back :].movedim(1, -1) for back in (0, 1))
    counted = batch.target[:, 4:] != names["PADDING"]  # the positions after the first numeral
    jobs = names["shares_of_jobs"](names["translator"], names["kinds"][::2].tolist())
    names["jobs"] = jobs
    by_kind = torch.stack(list(jobs.values()))  # (kinds, H)
    return {
        "entropy, flattest head of the cross-attention": flat.cross[0].max().item(),
        "entropy, sharpest head of the encoder": flat.encoder[0].min().item(),
        "heads of the decoder that look behind the last numeral": sum(
            (before[counted].mean(0) > own[counted].mean(0)).tolist()
        ),
        **{f"best head for “{kind}”": shares.max().item() for kind, shares in jobs.items()},
        "smallest second job of a head": by_kind.sort(0).values[-2].min().item(),
    }


def removals(names: Names) -> Measures:
    """The share that is right without heads, one at a time and several together."""
    heads, found = names["all_heads"](names["translator"]), {}
    names["without"] = {head: names["right_without"](head) for head in heads}
    names["with_even"] = {head: names["right_with"](names["evened"], [head]) for head in heads}
    for head in heads:
        found[f"right without {head.attention} {head.head}"] = names["without"][head]
    for head in heads:
        found[f"right with even weights in {head.attention} {head.head}"] = names["with_even"][head]
    spare = [head for head in heads if names["without"][head] >= 0.95]
    for name in ATTENTIONS:
        found[f"heads of {name} that can be spared"] = sum(head.attention == name for head in spare)
    spare = [head for head in spare if head.attention == "encoder"]
    alone = [names["with_even"][head] for head in spare]
    found["spare heads of the encoder, even, lowest of each alone"] = min(alone, default=-1)  # -1: none
    found["spare heads of the encoder, even together"] = names["right_with"](names["evened"], spare)
    found["right without all spare heads of the encoder"] = names["right_without"](*spare)
    torch.manual_seed(0)
    for name in ATTENTIONS:
        four = [head for head in heads if head.attention == name]
        for change in ("evened", "permuted"):
            found[f"all heads of {name} {change}"] = names["right_with"](names[change], four)
        found[f"all heads of {name} removed"] = names["right_without"](*four)
    return found


def orders(names: Names) -> Measures:
    """Heads removed one after the other, and ways to choose them."""
    run(names, "draw-curve", "curves", "cheaper-code")
    model, batch = names["translator"], names["exam_batch"]
    least, most = names["curves"].values()
    found = {f"right, {count} least important removed": least[count] for count in (2, 4, 6)}
    found["right, the most important removed"] = most[1]
    for way, _, shown in names["rows"]:
        found[f"right without two heads by {way}"] = int(shown.rstrip("%")) / 100
    missed = names["importance"].cross[0].argsort().tolist()
    aligned = names["alignment_scores"](model, batch)[0].argsort().tolist()
    found["importance and alignment in the same order"] = missed == aligned
    found["the most missed is the worst aligned"] = missed[-1] == aligned[0]
    found["the least missed is the best aligned"] = missed[0] == aligned[-1]
    thousand = Head("cross", 0, int(names["jobs"]["万: “thousand”"].argmax()))
    masks = names["head_masks_without"](model, [thousand])
    large = [number for number in names["exam"] if number >= 10_000][:200]
    small = names["held_out_numbers"](200, max_digits=4).tolist()
    found["without the head of the thousand, numbers with 万"] = share_right(model, large, masks)
    found["without the head of the thousand, small numbers"] = share_right(model, small, masks)
    return found


def patches(names: Names) -> Measures:
    run(names, "patch-counted")
    return {
        "its word swapped: follows": names["follows"] / 200,
        "all others swapped: stays": names["stays"] / 200,
    }


def mended(names: Names, seed: int) -> Measures:
    """Numbers like fourteen million seven, before and after the draw is mended."""
    generator = torch.Generator().manual_seed(seed)
    drawn = torch.cat([names["draw_training_numbers"](128, generator) for _ in range(1000)])
    found = {"drawn of the rare kind": float(names["like_fourteen_million_seven"](drawn).sum())}
    rare, many_zeros = names["rare"], names["held_out_numbers"](500, zero_rich=True)
    is_right = exact_matches(names["translator"], rare).tolist()
    kinds = {
        "all": names["exam"],
        "rare and right": [number for number, right in zip(rare, is_right, strict=True) if right],
        "rare and wrong": [number for number, right in zip(rare, is_right, strict=True) if not right],
    }
    jobs = {}
    for name, model in names["versions_of_it"].items():
        found[f"{name}: rare ones right"] = share_right(model, rare)
        found[f"{name}: all right"] = share_right(model, names["exam"])
        found[f"{name}: many zeros right"] = share_right(model, many_zeros)
        for kind, numbers in kinds.items():
            scores = names["alignment_scores"](model, names["make_batch"](numbers))[0]
            found[f"{name}: alignment on {kind}, mean head"] = scores.mean().item()
        shares = names["shares_of_jobs"](model, names["kinds"][::2].tolist()).values()
        jobs[name] = [int(each.argmax()) for each in shares]
    for name in ("old draw", "mended draw"):
        same = sum(a == b for a, b in zip(jobs["before"], jobs[name], strict=True))
        found[f"{name}: jobs of five whose best head is the same as before"] = same
    return found


def measure(seed: int, *, train: bool = True) -> dict[str, Measures]:
    """All measures of one seed, by the part of the lesson."""
    names = lesson_with(seed, train=train)
    with torch.no_grad():
        found = {"learning": learning(names), "maps": maps(names), "removal": removals(names)}
        found["patch"], found["draw"] = patches(names), mended(names, seed)
    found["order"] = orders(names)
    found["museum"] = museum(names, seed)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--kept", action="store_true", help="train nothing")
    parser.add_argument("--write", action="store_true", help=f"write {TABLE.relative_to(ROOT)}")
    parser.add_argument("--seeds", type=int, nargs="+", choices=SEEDS, default=SEEDS)
    options = parser.parse_args()
    torch.set_num_threads(1)  # models this small gain nothing from more
    table: Table = {}
    for seed in options.seeds:
        for part, measures in measure(seed, train=not options.kept).items():
            for name, number in measures.items():
                table.setdefault(part, {}).setdefault(name, []).append(round(float(number), 4))
        print(f"seed {seed} measured", flush=True)
    for part, rows in table.items():
        print(f"\n{part}")
        for name, numbers in rows.items():
            print(f"  {name}: {min(numbers):g} to {max(numbers):g}   {numbers}")
    if options.write:
        write_table(TABLE, table)


if __name__ == "__main__":
    main()
