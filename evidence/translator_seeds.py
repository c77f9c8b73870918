"""Lesson 05 makes claims about its translator: this measures them on twenty-four seeds.

    python -m evidence.translator_seeds           # trains what is not kept yet, and prints all measures
    python -m evidence.translator_seeds --write   # also puts them into evidence/results/translator_seeds.json
    python -m evidence.translator_seeds --kept    # trains nothing, and measures the models that are kept

All of it takes about forty minutes of one quiet core. The lesson's own cells measure. Trained models are kept
in build/translator_seeds/: delete that folder after a change of the task, the model or the training. A test
trains one of the brief ones anew.
"""

import argparse
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch

from evidence.heads import run_cells, source_of
from evidence.tables import Table, write_table
from mha_lib.classroom.lesson.language import source_folder
from mha_lib.classroom.translator import Training, exact_matches, make_translator

ROOT = Path(__file__).parents[1]
TABLE, KEPT = ROOT / "evidence" / "results" / "translator_seeds.json", ROOT / "build" / "translator_seeds"
LESSON = source_folder(ROOT, "en") / "05_trained_heads.ipynb"
SEEDS = range(24)
WITHOUT_A_MODEL = ("imports", "museum-code", "jobs-code")
OF_A_TRANSLATOR = (
    *("maps-of", "patch-code", "replaced", "turned-code", "turned-drawn", "shares-code", "remove-code"),
    *("removed", "cheaper-drawn", "why-spare-code", "why-spare-drawn", "evened-drawn", "rare-kind"),
)
BROKEN = {  # the relations that do not hold
    "correct": [],
    "no_causal_mask": ["later", "alone"],
    "not_shifted": ["no_copy", "alone"],
    "padding_counts": ["alone"],
    "mask_inverted": ["alone"],
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
    return run_cells(LESSON, *WITHOUT_A_MODEL)


def lesson_with(seed: int, *, train: bool = True) -> Names:
    """The names that the lesson's cells define, with a translator of another seed."""
    names = start()
    names["training"] = finish(translator(seed), "translator", seed, train=train)
    names["translator"] = names["training"].model
    names["exam"] = names["held_out_numbers"](500).tolist()
    run(names, *OF_A_TRANSLATOR)
    return names


def run(names: Names, *cells: str) -> None:
    """Run cells of the lesson, and show nothing of what they print."""
    with redirect_stdout(StringIO()):
        for cell in cells:
            exec(compile(source_of(LESSON, cell), cell, "exec"), names)


def share_right(model: Any, numbers: Any) -> float:
    return exact_matches(model, numbers).float().mean().item()


def museum(names: Names, seed: int, *, keep: bool = True) -> Measures:
    """The right version and the four mistakes, each trained for some seconds, and what catches them."""
    exam, found = names["held_out_numbers"](100, max_digits=3), {}
    names["brief"] = []
    for version in names["versions"]:
        name = version.__name__
        brief = finish(names["train_briefly"](version, seed), name, seed, keep=keep)
        names["brief"].append(brief)
        found[f"{name}: last loss"] = brief.losses[-1]
        found[f"{name}: right"] = share_right(brief.model, exam)
    names["small"] = names["brief"][0].model.cpu()  # the right version, as in the cell caught-table
    run(names, "relations-code")
    broken = {
        version.__name__: [relation.__name__ for relation in names["relations"] if not relation(version)]
        for version in names["versions"]
    }
    return found | {"the relations that break are those of the lesson": broken == BROKEN}


def learning(names: Names) -> Measures:
    """When the alignment is learnt."""
    batch = names["exam_batch"]
    found = {
        "right": share_right(names["translator"], names["exam"]),
        "alignment by chance": names["chance_of_alignment"](batch),
    }
    for step in (50, 150, 400, 1000):
        scores = names["alignment_scores"](names["models"][step], batch)[0]
        found |= {f"step {step}: alignment, best head": scores.max().item()}
        found |= {f"step {step}: alignment, worst head": scores.min().item()}
    return found


def maps(names: Names) -> Measures:
    """Where the heads look for each kind of numeral."""
    jobs = names["shares_of_jobs"](names["translator"], names["kinds"][::2].tolist())
    return {f"best head for “{kind}”": shares.max().item() for kind, shares in jobs.items()}


def patches(names: Names) -> Measures:
    """Patch a word's vector and the outputs of heads, and count the digits that follow."""
    follows = stays = 0
    for number, other, row in names["digit_pairs"](100, seed=1):
        word = names["alignment"](number)[row]
        rest = [place for place in range(len(names["in_english"](number).split())) if place != word]
        own, donor = names["in_chinese"](number), names["in_chinese"](other)
        as_numeral = names["as_numeral"]
        follows += as_numeral(names["patched"](number, other, [word]).argmax(-1).tolist()) == (
            own[:row] + donor[row] + own[row + 1 :]
        )
        stays += as_numeral(names["patched"](number, other, rest).argmax(-1).tolist()) == (
            donor[:row] + own[row] + donor[row + 1 :]
        )
    encoder, decoder, cross = names["turned"].values()
    return {
        "its word swapped: follows": follows / 100,
        "all others swapped: stays": stays / 100,
        "heads: encoder, all four": encoder[-1],
        "heads: decoder, all four": decoder[-1],
        "heads: cross, all four": cross[-1],
        "heads: cross, best": max(cross[:4]),
        "heads: cross, least": min(cross[:4]),
    }


def shares(names: Names) -> Measures:
    """Measure the share of each part in the lead of the right digit."""
    parts, lead = names["lead_by_part"]()
    cross = [parts["cross", head] for head in range(4)]
    turns = names["turned"]["cross-attention"][:4]
    return {
        "cross, of the lead": sum(cross) / lead,
        "network, of the lead": parts["network"] / lead,
        "decoder, of the lead": sum(parts["decoder", head] for head in range(4)) / lead,
        "largest share turns most": cross.index(max(cross)) == turns.index(max(turns)),
    }


def removals(names: Names) -> Measures:
    """The share that is right without single heads."""
    found: Measures = {}
    for way in ("by_zero", "by_mean"):
        for name in ATTENTIONS:
            rights = [share for head, share in names[way].items() if head.attention == name]
            found |= {f"{way}: {name} {head}": share for head, share in enumerate(rights)}
            found[f"{way}: {name}, mean"] = sum(rights) / 4
            found[f"{way}: {name}, spare"] = sum(share >= 0.95 for share in rights)
    return found


def evened(names: Names) -> Measures:
    """The share that is right with even weights."""
    return {
        f"{name}, {which}": choose(rights)
        for name, rights in zip(ATTENTIONS, names["with_even"].values(), strict=True)
        for which, choose in (("best alone", lambda r: max(r[:4])), ("all four", lambda r: r[-1]))
    }


def orders(names: Names) -> Measures:
    """Measure the share that is right without two heads, by the way in which they are chosen."""
    ways = ("removal", "gradient", "gradient at step 400", "entropy")
    return {
        f"right without two heads by {way}": right
        for way, right in zip(ways, names["right_without_two"], strict=True)
    }


def kinds(names: Names) -> Measures:
    """Right numerals without the four heads of an attention."""
    return {
        f"{name}: {kind}": right
        for name, rights in zip(ATTENTIONS, names["by_kind"].values(), strict=True)
        for kind, right in zip(("digits", "units", "万", "零"), rights, strict=True)
    }


def draw(names: Names, seed: int) -> Measures:
    """Numbers like fourteen million seven."""
    generator = torch.Generator().manual_seed(seed)
    drawn = torch.cat([names["draw_training_numbers"](128, generator) for _ in range(1000)])
    right = [number for number in names["rare"] if number not in set(names["wrong"])]
    return {
        "rare ones right": names["is_right"].float().mean().item(),
        "drawn of the kind": int(torch.isin(drawn, torch.tensor(names["rare"])).sum()),
        "alignment of the wrong ones": names["mean_alignment"](names["wrong"]),
        "alignment of the right ones": names["mean_alignment"](right),
    }


def measure(seed: int, *, train: bool = True) -> dict[str, Measures]:
    """All measures of one seed, by the part of the lesson."""
    names = lesson_with(seed, train=train)
    parts = (learning, maps, patches, shares, removals, evened, orders, kinds)
    found = {part.__name__: part(names) for part in parts}
    found["draw"] = draw(names, seed)
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
