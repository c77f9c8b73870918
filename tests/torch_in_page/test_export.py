"""What ``export_for_page`` writes, and what it refuses."""

import ast
import json
import sys

import pytest
import torch
from torch import nn

from torch_in_page import INTERPRETER, export_for_page
from torch_in_page.program import Weight

X = torch.randn(2, 5, generator=torch.Generator().manual_seed(0))
FREE = {"x": {1: "N"}}


def test_python_runs_what_was_recorded_at_every_length():
    layer = nn.LayerNorm(2)
    program = export_for_page(lambda x: layer(x.mT).softmax(0), {"x": X}, FREE, half=False)
    for length in (1, 2, 5, 9):
        x = torch.randn(2, length)
        torch.testing.assert_close(program.run(x=x)["output"], layer(x.mT).softmax(0))
    with pytest.raises(TypeError, match="the inputs must be x, got y"):
        program.run(y=X)


def test_a_program_can_be_written_as_json():
    program = export_for_page(lambda x: torch.where(x <= 0, x, -torch.inf), {"x": X}, FREE)
    written = json.loads(json.dumps(program.as_dict(), allow_nan=False))
    assert written["inputs"] == [{"name": "x", "dtype": "float32"}]
    assert "-Infinity" in json.dumps(written["nodes"])


def test_outputs_are_named_by_the_way_that_leads_to_them():
    program = export_for_page(lambda x: {"a": (x, [x + 1, x + 2]), "b": x.mean(1)}, {"x": X})
    assert list(program.outputs) == ["a.0", "a.1.0", "a.1.1", "b"]
    torch.testing.assert_close(program.run(x=X), {"a.0": X, "a.1.0": X + 1, "a.1.1": X + 2, "b": X.mean(1)})


def test_half_precision_rounds_weights_alone_and_halves_them():
    weight = torch.randn(7, 2, generator=torch.Generator().manual_seed(1))
    exact, rounded = (export_for_page(lambda x: weight @ x, {"x": X}, half=half) for half in (False, True))
    assert len(rounded.weights[0].stored.numpy().tobytes()) * 2 == weight.numel() * 4
    torch.testing.assert_close(exact.run(x=X)["output"], weight @ X)
    torch.testing.assert_close(rounded.run(x=X)["output"], weight.half().float() @ X)
    assert not torch.equal(rounded.run(x=X)["output"], weight @ X)


@pytest.mark.parametrize("number", [1e6, 1e-9], ids=str)
def test_numbers_that_float16_does_not_have_stay_float32(number):
    weight = Weight.of(torch.full((3,), number), half=True)
    assert weight.stored.dtype == torch.float32


def test_whole_numbers_are_stored_in_the_least_that_holds_them():
    assert Weight.of(torch.tensor([-5, 2**31 - 1])).stored.dtype == torch.int32
    assert Weight.of(torch.tensor([2**40])).stored.dtype == torch.float64


def test_what_is_shared_is_stored_once_and_what_is_unused_not_at_all():
    class Tied(nn.Module):
        def __init__(self):
            super().__init__()
            self.embedding, self.unused = nn.Embedding(7, 3), nn.Linear(3, 3)
            self.out = nn.Linear(3, 7, bias=False)
            self.out.weight = self.embedding.weight

        def forward(self, tokens):
            return self.out(self.embedding(tokens))

    program = export_for_page(Tied(), {"tokens": torch.tensor([1, 2])})
    assert [weight.value.shape for weight in program.weights] == [(7, 3)]


def test_one_example_for_two_inputs_makes_two_inputs():
    program = export_for_page(lambda a, b: a - b, {"a": X, "b": X})
    torch.testing.assert_close(program.run(a=X, b=3 * X)["output"], -2 * X)


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda x: x.half() + 1, "does not know torch.float16; it knows float32"),
        (torch.linalg.vector_norm, "does not know aten.linalg_vector_norm.default; it knows .*matmul"),
        (lambda x: x.add_(1), "writes into .*write into a clone"),
        (lambda x: {"mean": x.mean(1), "size": x.shape[1]}, "every output must be a tensor, got .* as size"),
    ],
)
def test_what_the_page_cannot_do_is_named(function, message):
    with pytest.raises(NotImplementedError, match=message):
        export_for_page(function, {"x": X.clone()}, FREE)


def test_a_branch_on_numbers_is_refused_in_the_words_of_pytorch():
    with pytest.raises(RuntimeError, match=r"can't record <lambda>: .* not on the numbers .*words:\n.*"):
        export_for_page(lambda x: x if x.sum() > 0 else -x, {"x": X})


def test_the_package_imports_torch_alone():
    for file in INTERPRETER.parent.glob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [str(node.module)] if isinstance(node, ast.ImportFrom) else []
            for name in names:
                known = sys.stdlib_module_names | {"torch"}
                assert name.split(".")[0] in known or name.startswith("torch_in_page")


def test_the_interpreter_is_small_and_evaluates_no_text():
    text = INTERPRETER.read_text(encoding="utf-8")
    assert len(text.encode()) <= 20_000
    for word in ("eval(", "Function(", "WebAssembly", "fetch(", "import ", "document", "window"):
        assert word not in text
