"""Computes as a handout does, where it will run: in a worker made of a blob, under a handout's policy."""

import copy
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

import torch
from playwright.sync_api import Page
from torch import Tensor, nn

from mha_lib.classroom.pages.handout.handout_page import POLICY
from tests.browser.waiting import answer_of
from torch_in_page import INTERPRETER, PageFunction, PageProgram

Model = TypeVar("Model", bound=nn.Module)

RUN = """async ([source, program, inputs]) => {
  const blob = new Blob([source], { type: "text/javascript" });
  const { load } = await import(URL.createObjectURL(blob));
  const { run } = load(program);
  const told = ([name, { dtype, shape, data }]) => [name, { dtype, shape, data: Array.from(data) }];
  return inputs.map((given) => Object.fromEntries(Object.entries(run(given)).map(told)));
}"""
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


def rounded(model: Model) -> Model:
    """The model with the weights that the page has."""
    model = copy.deepcopy(model)
    model.load_state_dict({name: x.half().float() for name, x in model.state_dict().items()})
    return model


def run_in_page(page: Page, program: PageProgram, *inputs: Mapping[str, Tensor]) -> list[dict[str, Tensor]]:
    """The outputs for each of the inputs, in the dtypes that the page says."""
    given = [
        {name: {"shape": list(x.shape), "data": x.double().flatten().tolist()} for name, x in each.items()}
        for each in inputs
    ]
    answers = answer_of(page, RUN, [INTERPRETER.read_text(encoding="utf-8"), program.as_dict(), given])
    return [{name: read(output) for name, output in outputs.items()} for outputs in answers]


def read(output: Mapping[str, Any]) -> Tensor:
    numbers = torch.tensor(output["data"], dtype=torch.float64)
    return numbers.reshape(output["shape"]).to(getattr(torch, output["dtype"]))


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
