"""An argument of MultiHeadAttention: ``sharpness`` multiplies the queries of all heads."""

from pathlib import Path

from tests.errands.edits import add_above, add_at_end, add_below

IF_NEEDED = ("mha_lib/masks.py", "mha_lib/fused.py")
HEADING = "Give `MultiHeadAttention` an argument"
TESTS = [f"tests/mha_lib/test_{name}.py" for name in ("multihead", "errors", "options")]
TESTS.append("tests/test_docs.py")

TEST = """

def test_sharper_heads_have_larger_scores():
    plain, sharp = MultiHeadAttention(6, 2), MultiHeadAttention(6, 2, sharpness=3.0)
    sharp.load_state_dict(plain.state_dict())
    plain.W_q.weight.data *= 3
    x = torch.randn(2, 5, 6)
    for need_weights in (True, False):
        torch.testing.assert_close(sharp(x, need_weights=need_weights), plain(x, need_weights=need_weights))
    cache = KVCache(sharp, 2, 5)
    with torch.no_grad():
        steps = [sharp(token, cache=cache, is_causal=True) for token in x.split(1, dim=1)]
    torch.testing.assert_close(torch.cat(steps, dim=1), plain(x, is_causal=True))
"""
BAD_CALL = """

def test_a_sharpness_of_nothing_is_an_error():
    def call():
        return MultiHeadAttention(6, 2, sharpness=0.0)

    assert_refused(call, ValueError, "sharpness=0.0 must be above 0")
"""


def make(root: Path) -> None:
    layer = root / "mha_lib" / "multihead.py"
    add_above(
        layer,
        "    sinks           whether each head",
        "    sharpness       by what all queries are multiplied\n",
    )
    add_below(layer, "        window: int | None = None,", "        sharpness: float = 1.0,\n")
    add_below(
        layer,
        "        self.window = None if window is None",
        '        if sharpness <= 0:\n            raise ValueError(f"sharpness={sharpness} must be above 0")\n'
        "        self.sharpness = sharpness\n",
    )
    add_below(
        layer,
        "        q = by_heads(self.W_q(queries), self.head_dim)",
        "        q = q * self.sharpness\n",
    )
    add_below(layer, '            "window": None,', '            "sharpness": 1.0,\n')
    add_below(root / "tests" / "mha_lib" / "test_options.py", '    "window": 3,', '    "sharpness": 2.0,\n')
    for file, code in (("test_multihead.py", TEST), ("test_errors.py", BAD_CALL)):
        add_at_end(root / "tests" / "mha_lib" / file, code)
    for language in ("en", "zh"):
        page = root / "docs" / language / "library.md"
        add_below(page, "`qk_norm=True` |", "| sharper heads | `sharpness=3.0` |\n")
    add_above(root / "CHANGELOG.md", "### ", "- `MultiHeadAttention` takes `sharpness`.\n\n")
