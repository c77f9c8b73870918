"""A Chinese sentence stands below an error of the library: each pattern fits one that it really raises."""

from typing import Any, cast

import pytest
import torch
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

from mha_lib import MultiHeadAttention, causal_mask, dot_product_attention, padding_mask, split_heads
from mha_lib.classroom.exercises import judge
from mha_lib.classroom.lesson import glosses
from mha_lib.classroom.lesson.language import words_in

X = torch.rand(2, 4, 6)
LAYER = MultiHeadAttention(num_hiddens=6, num_heads=2)
MISTAKES = [
    (lambda: MultiHeadAttention(num_hiddens=30, num_heads=4), "num_hiddens=30 应能被 num_heads=4 整除"),
    (lambda: split_heads(X, 4), "x 的宽度是 6，应能被 num_heads=4 整除"),
    (lambda: split_heads(cast(Any, [1]), 4), "x 应是张量，这里是 list"),
    (lambda: dot_product_attention(X.long(), X, X), "queries 应是浮点数，这里是 torch.int64"),
    (lambda: MultiHeadAttention(num_hiddens=cast(Any, "8"), num_heads=4), "num_hiddens 应是整数，这里是 '8'"),
    (lambda: MultiHeadAttention(num_hiddens=8, num_heads=0), "num_heads 至少是 1，这里是 0"),
    (lambda: dot_product_attention(X, X[..., :5], X), "查询宽 6，键宽 5"),
    (lambda: dot_product_attention(X, X, X[:, :3]), "键有 4 个，值有 3 个"),
    (
        lambda: dot_product_attention(X, X[:1], X[:1]),
        "keys 的前几个轴应与查询的 (2,) 相同，这里的形状是 (1, 4, 6)",
    ),
    (lambda: padding_mask(torch.tensor([True, False]), 6), "这里是 torch.bool；布尔的掩码写在"),
    (lambda: padding_mask(torch.tensor([3, 9]), 6), "应在 0 与键的个数 6 之间，这里是 3 到 9"),
    (lambda: LAYER(X, valid_lens=torch.tensor([[1, 0, 1, 0], [1, 1, 1, 1]])), "全是 0 和 1，像是掩码"),
    (lambda: dot_product_attention(X, X, X, torch.ones(4, 4)), "mask 应是布尔张量"),
    (lambda: causal_mask(4, 3), "这里有 4 个查询、3 个键"),
    (lambda: split_heads(X[0], 2), "x 的形状应是 (B, N, H*d)，这里是 (4, 6)"),
]


@pytest.fixture(autouse=True)
def _chinese(monkeypatch):
    monkeypatch.setattr(glosses, "words_here", lambda: words_in("zh"))


def test_each_pattern_explains_an_error_of_the_library():
    said = set()
    for mistake, sentence in MISTAKES:
        with pytest.raises((TypeError, ValueError)) as error:
            mistake()
        said.add(glosses.gloss(str(error.value)))
        assert sentence in glosses.gloss(str(error.value))
    assert len(said) == len(glosses.PATTERNS)


def test_in_a_cell_the_sentence_stands_below_the_librarys_and_other_errors_are_as_before(capsys):
    shell = InteractiveShell(config=Config(HistoryManager={"enabled": False}))
    glosses.explain_errors(shell)
    result = shell.run_cell("from mha_lib import split_heads\nsplit_heads([1], 4)")
    said = str(result.error_in_exec)
    assert said.startswith("x must be a tensor, got list;")
    assert said.endswith("\nx 应是张量，这里是 list。")
    assert "x 应是张量，这里是 list。" in capsys.readouterr().out
    assert str(shell.run_cell("int('x must be a tensor, got list')").error_in_exec).endswith("got list'")
    assert str(shell.run_cell("raise ValueError('x must be a tensor, got list;')").error_in_exec).endswith(
        ";"
    )


def test_a_check_explains_too_what_the_library_said_to_the_students_line(monkeypatch):
    monkeypatch.setattr(judge, "is_own", lambda file: file == __file__)

    def mine(x):
        return split_heads(x, 4)

    assert "x 的宽度是 6，应能被 num_heads=4 整除" in judge.result_of(mine, (X,)).sentence
    monkeypatch.setattr(glosses, "words_here", lambda: words_in("en"))
    assert judge.result_of(mine, (X,)).sentence.count("divisible") == 1
