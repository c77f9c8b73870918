"""The exercises' checks in JupyterLab, as a student who works in Chinese meets them."""

import pytest
from playwright.sync_api import expect

from mha_lib.classroom.lesson.language import words_in
from tests.browser.explorers import Lab

ANSWER = "def mine(scores, mask):\n    return ..."
WRONG = "def mine(scores, mask):\n    return scores.softmax(-1)"
UNREADABLE = "def mine(scores, mask)\n    return scores.softmax(-1)"
RIGHT = "def mine(scores, mask):\n    return scores.masked_fill(~mask, -float('inf')).softmax(-1)"
CHECK = "from mha_lib.classroom import check\ncheck.masked_softmax(mine)"


@pytest.mark.ci
def test_a_check_answers_in_chinese(page, jupyter):
    # Its file says its language to the kernel, wherever it lies.
    lab = Lab(page, jupyter, "checks.ipynb", CHECK, ANSWER, WRONG, UNREADABLE, RIGHT, language="zh")
    words = words_in("zh")
    lab.run(1)
    expect(lab.run(0)).to_have_text("○ masked_softmax：" + words["checks"]["returns_nothing"])
    lab.run(2)
    expect(lab.run(0)).to_have_text("✗ masked_softmax：" + words["mistakes"]["shared"]["mask_missing"])
    lab.run(3)
    expect(lab.run(0)).to_contain_text("最近一个定义 mine 的单元格，第 1 行有 SyntaxError")
    lab.run(4)
    expect(lab.run(0)).to_contain_text("✓ masked_softmax：正确")
