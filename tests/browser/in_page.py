"""Computes as a handout does, where it will run: in a worker made of a blob, under a handout's policy."""

import base64
import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
from playwright.sync_api import Page
from torch import Tensor

from mha_lib.classroom.pages.handout.page import POLICY
from tests.browser.waiting import act, answer_of
from torch_in_page import INTERPRETER, PageFunction, PageProgram

HARNESS = Path(__file__).with_name("in_page.js").read_text(encoding="utf-8")
START = """([name, source]) => {
  const address = URL.createObjectURL(new Blob([source], { type: "text/javascript" }));
  window[name] = new Worker(address);
}"""
ASK = """([name, text]) => new Promise((resolve, reject) => {
  window[name].onmessage = ({ data }) => resolve(data);
  window[name].onerror = (event) => reject(new Error(event.message));
  window[name].postMessage(text);
})"""


ASK_FUNCTION = """([page, questions]) => new Promise((resolve, reject) => {
  const worker = new Worker(URL.createObjectURL(new Blob([page.worker], { type: "text/javascript" })));
  const answers = [];
  worker.onerror = ({ message }) => reject(new Error(message));
  worker.onmessage = ({ data: { answer, error } }) => {
    answers.push(error ? { error } : { ...answer, weights: [...answer.weights] });
    if (answers.length === questions.length) resolve(answers);
  };
  for (const question of questions) worker.postMessage({ page, question });
})"""


def open_empty(page: Page, folder: Path) -> None:
    """Open a page with nothing but a handout's policy."""
    policy = "; ".join(" ".join(rule) for rule in {"default-src": "'none'", **POLICY}.items())
    file = folder / "page.html"
    file.write_text(f'<meta http-equiv="Content-Security-Policy" content="{policy}">', encoding="utf-8")
    page.goto(file.as_uri())


def ask_function(page: Page, function: PageFunction, *questions: dict[str, Any]) -> list[Any]:
    """Ask a ``PageFunction`` all questions; returns its answers in their order."""
    return list(answer_of(page, ASK_FUNCTION, [function.as_dict(), list(questions)]))


def assert_weighed(found: dict[str, Any], typed: Any, question: dict[str, Any]) -> None:
    """Compare an answer of the page with what Python computes for what somebody typed."""
    maps, allowed = typed.maps(**question)
    assert found["shape"] == list(maps.shape)
    weights = torch.tensor(found["weights"], dtype=maps.dtype).view_as(maps)
    torch.testing.assert_close(weights, maps, atol=1e-4, rtol=0)
    assert found["queryLabels"] == typed.rows(**question)
    assert found["keyLabels"] == typed.columns(**question)
    mask = torch.tensor(found["mask"] or [True]).bool().expand(allowed.numel())
    assert mask.view_as(allowed).equal(allowed)


def plain_script() -> str:
    """The interpreter for a worker that is no module: Chromium runs none from a page that is a file."""
    return INTERPRETER.read_text(encoding="utf-8").replace("\nexport ", "\n")


class InPage:
    """Runs programs in a page by the interpreter of ``torch_in_page``."""

    def __init__(self, page: Page, folder: Path):
        open_empty(page, folder)
        self.page = page
        act(page, START, ["interpreter", plain_script() + HARNESS])

    def ask(self, **question: Any) -> Any:
        return json.loads(answer_of(self.page, ASK, ["interpreter", json.dumps(question)]))

    def run(self, program: PageProgram, *inputs: Mapping[str, Tensor]) -> list[dict[str, Tensor]]:
        """The outputs for each of the inputs, in the dtypes that the page says."""
        answer = self.ask(
            program=program.as_dict(),
            inputs=[{name: written(tensor) for name, tensor in given.items()} for given in inputs],
        )
        assert "error" not in answer, answer["error"]
        return [{name: read(output) for name, output in outputs.items()} for outputs in answer["outputs"]]


def written(tensor: Tensor) -> dict[str, Any]:
    numbers = tensor.double().numpy().tobytes()
    return {"shape": list(tensor.shape), "data": base64.b64encode(numbers).decode()}


def read(output: Mapping[str, Any]) -> Tensor:
    numbers = np.frombuffer(base64.b64decode(output["data"]), dtype=np.float64).copy()
    assert numbers.size == math.prod(output["shape"]), "the shape does not hold the numbers"
    return torch.from_numpy(numbers).reshape(output["shape"]).to(getattr(torch, output["dtype"]))


def difference(ours: Tensor, theirs: Tensor) -> float:
    """The largest difference, in units of the expected numbers where these are above 1."""
    if ours.shape != theirs.shape or ours.dtype != theirs.dtype:
        return math.inf
    ours, theirs = ours.double(), theirs.double()
    same = (ours == theirs) | (ours.isnan() & theirs.isnan())
    apart = (ours - theirs).abs() / theirs.abs().clamp(min=1)
    return max(
        torch.where(same, 0.0, apart.nan_to_num(math.inf, posinf=math.inf)).flatten().tolist(), default=0
    )
