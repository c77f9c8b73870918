"""Ask a function of the page, in a worker, under the policy of a handout."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from playwright.sync_api import Page

from mha_lib.classroom.page_torch import PageFunction
from mha_lib.classroom.publish.handout.page import POLICY

ASK = """([page, questions]) => new Promise((resolve, reject) => {
  const worker = new Worker(URL.createObjectURL(new Blob([page.worker], { type: "text/javascript" })));
  const answers = [];
  worker.onerror = ({ message }) => reject(new Error(message));
  worker.onmessage = ({ data: { answer, error } }) => {
    answers.push(error ? { error } : { ...answer, weights: [...answer.weights] });
    if (answers.length === questions.length) resolve(answers);
  };
  for (const question of questions) worker.postMessage({ page, question });
})"""


def asker(page: Page, folder: Path) -> Callable[..., list[Any]]:
    """A function that asks a ``PageFunction`` all questions, and returns its answers in their order."""
    policy = "; ".join(" ".join(rule) for rule in {"default-src": "'none'", **POLICY}.items())
    file = folder / "page.html"
    file.write_text(f'<meta http-equiv="Content-Security-Policy" content="{policy}">', encoding="utf-8")
    page.goto(file.as_uri())

    def ask(function: PageFunction, *questions: dict[str, Any]) -> list[Any]:
        return list(page.evaluate(ASK, [function.as_dict(), list(questions)]))

    return ask
