"""The exercises of the lesson on a real model: small ones, and a claim about a head on prompts held back."""

from typing import Any, NamedTuple

import torch
from torch import Tensor

from mha_lib.classroom.exercises.judge import (
    Answer,
    Arguments,
    Draw,
    Exercise,
    Judged,
    Verdict,
    describe,
    result_of,
)
from mha_lib.classroom.exercises.mistakes import Step
from mha_lib.classroom.exercises.small import Small
from mha_lib.classroom.heads.asked import real_heads
from mha_lib.classroom.heads.prompts import KINDS

LAYERS, HEADS = 30, 9
PARAMETERS, OF_TABLE = 134_515_008, 49_152 * 576
NEEDED = "needed"


def draw_leads(draw: Draw) -> Arguments:
    """The leads with a clean and with a corrupted text, and those with each head patched (L, H)."""
    shape = draw.sizes(3, 5)
    return torch.tensor(3 + draw.round), torch.tensor(-1.0 - draw.round), *draw.tensors(shape)


def recovered(
    clean: Tensor,
    corrupted: Tensor,
    patched: Tensor,
    *,
    gain: Step = lambda patched, clean, corrupted: patched - corrupted,
    whole: Step = lambda clean, corrupted: clean - corrupted,
) -> Tensor:
    """The share of the lead that each head brings back; each keyword replaces one step by a mistake."""
    return gain(patched, clean, corrupted) / whole(clean, corrupted)


class Claim(NamedTuple):
    """A head, a measure, its limit, the prompts, and a head that shall not do the same."""

    head: tuple[int, int]
    measure: str
    limit: float
    prompts: str
    control: tuple[int, int]


class ClaimAboutARealHead(Judged):
    """The student claims a measure of one of the real model's 270 heads, and that a control has it not.

    An answer returns a ``Claim``'s five parts. Its measure is "needed": without the head at most ``limit`` of
    the prompts are right; or a place of the prompts, such as "subject": the head's median weight on it is at
    least ``limit``. It is tested on prompts that are held back, by what was measured of all heads.
    """

    mistakes = (
        *("five_wanted", "head_not_there", "same_head", "prompts_not_there", "measure_not_there"),
        *("no_limit", "nothing_refutes", "control_too", "refuted"),
    )

    def judge_function(self, given: Answer) -> Verdict:
        result = result_of(given, ())
        if isinstance(result, Verdict):
            return result
        if not isinstance(result, tuple) or len(result) != len(Claim._fields):
            return self.mistaken("five_wanted", given=describe(result))
        return self.slip(Claim(*result)) or self.tested(Claim(*result))

    def slip(self, claim: Claim) -> Verdict | None:
        """The verdict on a claim that can't be tested."""
        for head in (claim.head, claim.control):
            if not is_head(head):
                return self.mistaken("head_not_there", head=repr(head))
        if tuple(claim.head) == tuple(claim.control):
            return self.mistaken("same_head")
        if claim.prompts not in [*KINDS]:  # a list, too, which has no hash
            return self.mistaken("prompts_not_there", given=claim.prompts, known=", ".join(KINDS))
        known = measures_of(claim.prompts)
        if claim.measure not in known:
            return self.mistaken("measure_not_there", given=claim.measure, known=", ".join(known))
        if not isinstance(claim.limit, int | float) or not 0 < claim.limit < 1:
            return self.mistaken("no_limit", given=claim.limit)
        return None

    def tested(self, claim: Claim) -> Verdict:
        found = real_heads(f"{claim.prompts}, held back")
        is_loss = claim.measure == NEEDED
        numbers = found["without" if is_loss else f"on {claim.measure}"]
        own, control = (numbers[layer][head] for layer, head in (claim.head, claim.control))
        count = len(found["lead"])
        said: dict[str, Any] = {
            "head": name_of(claim.head),
            "control": name_of(claim.control),
            "limit": f"{claim.limit:g}",
            "own": f"{own:.2f}",
            "of_control": f"{control:.2f}",
            "measure": claim.measure,
            "count": count,
        }
        kind = "_needed" if is_loss else "_looks"
        if is_loss:
            all_right = sum(lead > 0 for lead in found["lead"]) / count
            if all_right <= claim.limit:
                return self.mistaken("nothing_refutes", right=f"{all_right:.2f}", limit=said["limit"])
        holds, of_control = ((x <= claim.limit) == is_loss for x in (own, control))
        if not holds:
            return self.mistaken("refuted", **said)
        if of_control:
            return self.mistaken("control_too", **said)
        return self.solved("stands" + kind, **said)


def is_head(head: Any) -> bool:
    numbered = isinstance(head, tuple) and [type(number) for number in head] == [int, int]
    return numbered and head[0] in range(LAYERS) and head[1] in range(HEADS)


def name_of(head: tuple[int, int]) -> str:
    return f"{head[0]}.{head[1]}"


def measures_of(kind: str) -> list[str]:
    """The measures that were made of all heads on these prompts."""
    found = real_heads(f"{kind}, held back")
    return [NEEDED] * ("without" in found) + [
        name.removeprefix("on ") for name in found if name.startswith("on ")
    ]


EXERCISES: tuple[Judged, ...] = (
    Small(
        "share_of_table",
        OF_TABLE / PARAMETERS,
        {
            "table_alone": OF_TABLE,
            "of_the_rest": OF_TABLE / (PARAMETERS - OF_TABLE),
            "turned": PARAMETERS / OF_TABLE,
        },
        within=6e-3,
        hint="file-why",
    ),
    Small(
        "lead_of_head",
        -0.1 - -2.4,
        {"sign_lost": -0.1 + -2.4, "turned": -2.4 - -0.1, "wrong_alone": -2.4, "right_alone": -0.1},
        within=6e-3,
        hint="writes-why",
    ),
    Exercise("recovered", recovered, draw_leads, hint="three-why").recognising(
        turned={"gain": lambda patched, clean, corrupted: clean - patched},
        not_divided={"whole": lambda clean, corrupted: torch.tensor(1.0)},
        corrupted_not_taken_off={"gain": lambda patched, clean, corrupted: patched},
        of_clean_alone={"whole": lambda clean, corrupted: clean},
        sign_lost={"whole": lambda clean, corrupted: corrupted - clean},
        divided_by_its_own=lambda clean, corrupted, patched: (patched - corrupted) / (clean - patched),
    ),
    ClaimAboutARealHead("real_claim", hint="keys-why"),
)
