"""The solutions of lesson 06 hold for any random numbers. Run by hand, with ``-m whole``."""

import re

import pytest
import torch

from evidence.heads import run_cells, source_of
from evidence.today import ROOT

pytestmark = pytest.mark.whole
LESSON = ROOT / "notebooks" / "en" / "06_heads_today.ipynb"  # the code cells are the same in each language
SOLUTIONS = ("attend-with-cache", "online-softmax", "slide-cache", "rebuild-block")


@pytest.mark.parametrize("seed", range(20))
def test_the_solutions_hold_for_any_random_numbers(seed, capsys):
    namespace = run_cells(LESSON, "imports")
    torch.manual_seed(seed)
    for name in SOLUTIONS:
        code = re.sub(r"manual_seed\((\d+)\)", f"manual_seed({seed})", source_of(LESSON, f"{name}-solution"))
        exec(compile(code, name, "exec"), namespace)
    assert capsys.readouterr().out.count("not your answer: right on") == len(SOLUTIONS)
