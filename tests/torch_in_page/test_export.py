"""What ``export_for_page`` writes, and what it refuses."""

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


def test_what_the_page_cannot_do_is_named():
    for function, message in (
        (torch.linalg.vector_norm, "does not know aten.linalg_vector_norm.default; it knows .*matmul"),
        (lambda x: x.add_(1), "writes into .*write into a clone"),
        (lambda x: {"mean": x.mean(1), "size": x.shape[1]}, "every output must be a tensor, got .* as size"),
    ):
        with pytest.raises(NotImplementedError, match=message):
            export_for_page(function, {"x": X.clone()}, FREE)


def test_the_interpreter_is_small_and_evaluates_no_text():
    text = INTERPRETER.read_text(encoding="utf-8")
    assert len(text.encode()) <= 15_000
    for word in ("eval(", "Function(", "WebAssembly", "fetch(", "import ", "document", "window"):
        assert word not in text
