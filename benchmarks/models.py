"""Any model's heads: ``explore_model`` beside BertViz's model view, on the same model and text.

    python -m benchmarks.models            all heads of a GPT-2 of 12 layers × 12 heads, with random weights
    python -m benchmarks.models --record   keep the table in benchmarks/results/

Both begin with the model and its tokens. Python's part ends with what the cell returns; the browser's part
begins when it loads that on a page, and ends when all heads are painted. BertViz takes part where it is
installed (pip install bertviz), and puts all weights into the notebook; the explorer puts what it computes in
half a second, and its kernel the rest. BertViz loads three scripts from a CDN: its part in the browser is
measured where BERTVIZ_SCRIPTS names a folder with require.js, d3.min.js and jquery.min.js.
"""

import argparse
import importlib.util
import json
import os
import statistics
import tempfile
import time
from base64 import b64encode
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
import transformers
from playwright.sync_api import Browser, Page, Route, sync_playwright

from benchmarks.attention import RESULTS
from benchmarks.machine import describe_machine
from mha_lib.classroom import explore_model
from mha_lib.classroom.pages.browser import find_browser
from tests.browser.explorers import handout_page

LENGTHS = (16, 64, 128)  # tokens
HEADS = 144
TIMES = 3
PATIENCE = 300_000  # milliseconds
SCRIPTS = os.environ.get("BERTVIZ_SCRIPTS", "")
# BertViz draws all heads at once, each with a line from each token to each.
EXPLORER_SHOWS, BERTVIZ_SHOWS = f".mha-explorer [role=button]:nth-child({HEADS})", "#vis svg line"
PAINTED = "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
Measured = dict[str, float]


def make_model() -> Any:
    torch.manual_seed(0)
    config = transformers.GPT2Config(
        vocab_size=500, n_embd=96, n_layer=12, n_head=12, bos_token_id=0, eos_token_id=0
    )
    config._attn_implementation = "eager"  # BertViz takes what the model returns
    return transformers.GPT2Model(config).eval()


def seconds_to_show(browser: Browser, path: Path, shows: str, answer: Callable[[Route], None]) -> float:
    """The seconds from the request for a page until its heads are painted."""
    page: Page = browser.new_page(viewport={"width": 1280, "height": 720})
    page.route("https://**/*", answer)
    began = time.perf_counter()
    page.goto(path.as_uri(), timeout=PATIENCE)
    page.locator(shows).first.wait_for(state="attached", timeout=PATIENCE)
    page.evaluate(PAINTED)
    seconds = time.perf_counter() - began
    page.close()
    return seconds


def shows_offline(browser: Browser, path: Path, shows: str) -> bool:
    """Whether heads appear on a page that reaches no network."""
    page = browser.new_page()
    page.route("https://**/*", lambda route: route.abort())
    page.goto(path.as_uri())
    page.wait_for_load_state("networkidle")
    page.wait_for_timeout(3000)  # heads of a short text need a second at most
    is_there = page.locator(shows).count() > 0
    page.close()
    return is_there


def measure_explorer(model: Any, tokens: torch.Tensor, browser: Browser, folder: Path) -> Measured:
    labels = [f"t{number}" for number in tokens[0].tolist()]
    began = time.perf_counter()
    explorer = explore_model(model, tokens, labels)
    python = time.perf_counter() - began
    path = folder / "explorer.html"
    handout_page(explorer, path)
    in_notebook = json.dumps(explorer.get_state(), default=lambda buffer: b64encode(buffer).decode())
    shown = seconds_to_show(browser, path, EXPLORER_SHOWS, lambda route: route.abort())
    return {"python": python, "browser": shown, "bytes": len(in_notebook.encode())}


def measure_bertviz(model: Any, tokens: torch.Tensor, browser: Browser, folder: Path) -> Measured:
    from bertviz import model_view

    labels = [f"t{number}" for number in tokens[0].tolist()]
    began = time.perf_counter()
    with torch.no_grad():
        attentions = model(tokens, output_attentions=True).attentions
    html = model_view(attentions, labels, html_action="return").data
    python = time.perf_counter() - began
    measured = {"python": python, "bytes": len(json.dumps(html).encode())}
    path = folder / "bertviz.html"
    path.write_text(f"<meta charset=utf-8>{html}", encoding="utf-8")
    if SCRIPTS:
        measured["browser"] = seconds_to_show(browser, path, BERTVIZ_SHOWS, answer_from_folder)
    return measured


def answer_from_folder(route: Route) -> None:
    name = route.request.url.split("/")[-1].replace("require.min", "require")
    route.fulfill(path=Path(SCRIPTS) / name)


def median_of(measure: Callable[..., Measured], *arguments: Any) -> Measured:
    """The median of some runs, after one that warms up."""
    runs = [measure(*arguments) for _ in range(1 + TIMES)][1:]
    return {name: statistics.median(run[name] for run in runs) for name in runs[0]}


def compared(ours: Measured, theirs: Measured, length: int) -> list[str]:
    """Rows of the table: what is measured, ours, theirs, and how many times ours theirs is."""
    kinds: dict[str, Callable[[Measured], float | None]] = {
        "Python, s": lambda one: one.get("python"),
        "browser, s": lambda one: one.get("browser"),
        "first picture, s": lambda one: one["python"] + one["browser"] if "browser" in one else None,
        "in the notebook, MB": lambda one: one["bytes"] / 1e6 if one else None,
    }
    rows = []
    for name, read in kinds.items():
        mine, other = read(ours), read(theirs)
        assert mine is not None
        ratio = f"× {other / mine:.1f}" if other else "—"
        shown = f"{other:.2f}" if other else "not measured"
        rows.append(f"| {length} tokens: {name} | {mine:.2f} | {shown} | {ratio} |")
    return rows


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--record", action="store_true", help="keep the table in benchmarks/results/")
    record = arguments.parse_args().record
    has_bertviz = importlib.util.find_spec("bertviz") is not None
    torch.set_num_threads(1)  # for both: on a busy machine waiting threads would make up the time
    model = make_model()
    lines = ["| 144 heads | explore_model | BertViz model view | ratio |", "|---|---|---|---|"]
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as name:
        browser = playwright.chromium.launch(executable_path=find_browser(), args=["--no-sandbox"])
        for length in LENGTHS:
            tokens = torch.randint(0, 500, (1, length), generator=torch.Generator().manual_seed(length))
            ours = median_of(measure_explorer, model, tokens, browser, Path(name))
            theirs = median_of(measure_bertviz, model, tokens, browser, Path(name)) if has_bertviz else {}
            lines += compared(ours, theirs, length)
            if length == LENGTHS[0]:
                files = {"explorer": EXPLORER_SHOWS} | ({"bertviz": BERTVIZ_SHOWS} if has_bertviz else {})
                found = [shows_offline(browser, Path(name) / f"{file}.html", files[file]) for file in files]
        browser.close()
    offline = ["shows all heads" if one else "shows none" for one in found]
    lines.append(f"| without a network | {' | '.join([*offline, 'not measured'][:2])} | |")
    print("\n".join(lines))
    if not has_bertviz:
        print("BertViz: not measured, since it is not installed (pip install bertviz)")
    elif not SCRIPTS:
        print("BertViz in the browser: not measured without its scripts (set BERTVIZ_SCRIPTS)")
    if record:
        head = [
            "# Any model's heads",
            "",
            "Made by `python -m benchmarks.models --record`, medians of 3 runs.",
        ]
        text = [*head, "", *lines, "", *describe_machine("cpu"), f"transformers {transformers.__version__}."]
        (RESULTS / "models.md").write_text("\n".join(text) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
