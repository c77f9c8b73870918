"""How fast is a slider move? The explorer, `interact` + matplotlib, and BertViz's head view, in one run.

    python -m benchmarks.explorer

Each figure is the median and the 95th percentile of moves in headless Chromium, in milliseconds. BertViz has
no picture without its CDN: it takes part where it is installed and BERTVIZ_SCRIPTS names a folder with
require.js, d3.min.js and jquery.min.js.
"""

import os
import statistics
import tempfile
from pathlib import Path

import torch
from playwright.sync_api import Page, sync_playwright

from mha_lib import causal_mask, masked_softmax
from mha_lib.classroom.explorer import explore
from mha_lib.classroom.pages.browser import find_browser
from mha_lib.classroom.pages.slides.server import wait_for
from tests.browser.conftest import start_server
from tests.browser.explorers import Lab, handout_page

MOVES = 60
TABLE = """async ([moves]) => {
  const input = document.querySelector(".mha-explorer input"), times = [];
  const ctx = document.querySelector("canvas").getContext("2d");
  for (let i = 0; i < moves; i++) {
    await new Promise(requestAnimationFrame);
    const began = performance.now();
    input.value = i % (+input.max + 1);
    input.dispatchEvent(new Event("input"));
    ctx.getImageData(0, 0, 1, 1);  // waits until all is painted
    times.push(performance.now() - began);
  }
  return times;
}"""
KERNEL = """async ([moves]) => {
  const input = document.querySelector(".mha-explorer input"), times = [];
  const stage = document.querySelector(".mha-explorer .stage");
  for (let i = 0; i < moves; i++) {
    const began = performance.now();
    input.value = 500 + i;
    input.dispatchEvent(new Event("input"));
    while (stage.ariaBusy === "true") await new Promise((done) => setTimeout(done, 1));
    times.push(performance.now() - began);
    await new Promise((done) => setTimeout(done, 50));
  }
  return times;
}"""
INTERACT = """async ([moves]) => {
  const handle = document.querySelector(".noUi-handle"), times = [];
  const source = () => document.querySelector(".jp-OutputArea-output img")?.src;
  for (let i = 0; i < moves; i++) {
    const began = performance.now(), before = source();
    handle.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowRight", bubbles: true }));
    while (source() === before || !source()) await new Promise((done) => setTimeout(done, 1));
    times.push(performance.now() - began);
    await new Promise((done) => setTimeout(done, 50));
  }
  return times;
}"""
BERTVIZ = """async ([moves]) => {
  const select = document.querySelector("#layer"), times = [];
  for (let i = 0; i < moves; i++) {
    await new Promise(requestAnimationFrame);
    const began = performance.now();
    select.value = i % select.options.length;
    select.dispatchEvent(new Event("change"));
    document.body.getBoundingClientRect();
    await new Promise(requestAnimationFrame);
    await new Promise((done) => setTimeout(done));
    times.push(performance.now() - began);
  }
  return times;
}"""
WEIGHTS = """
import time, torch
from mha_lib import causal_mask, masked_softmax
def weights_of(shift, heads=8, n=32):
    scores = 3 * torch.randn(heads, n, n, generator=torch.Generator().manual_seed(shift))
    return masked_softmax(scores, causal_mask(n, n)), causal_mask(n, n)
"""
EXPLORER = """
from mha_lib.classroom import explore
explorer = explore(weights_of, shift=range(1000))
ended = 1000 * time.time()
explorer
"""
SMALL = EXPLORER.replace("1000)", "15)")
FIRST = """() => { const look = () => document.querySelector(".mha-explorer [role=application]")
    ? (window.firstPicture = Date.now()) : requestAnimationFrame(look); look(); }"""
MATPLOTLIB = """
import matplotlib.pyplot as plt
from ipywidgets import interact
@interact(shift=(0, 60))
def show(shift=0):
    figure, grid = plt.subplots(2, 4, figsize=(10, 5))
    for axes, head in zip(grid.flat, weights_of(shift)[0]):
        axes.imshow(head, vmin=0, vmax=1)
    plt.show()
"""


def report(name: str, times: list[float]) -> None:
    times = sorted(times[3:])  # the first moves warm up
    print(f"{name:58} {statistics.median(times):7.1f} {times[int(0.95 * len(times))]:7.1f}", flush=True)


def weights_of(shift: int, heads: int, n: int):
    scores = 3 * torch.randn(heads, n, n, generator=torch.Generator().manual_seed(shift))
    return masked_softmax(scores, causal_mask(n, n)), causal_mask(n, n)


def measure_table(page: Page, folder: Path, heads: int, n: int) -> None:
    explorer = explore(lambda shift: weights_of(shift, heads, n), shift=range(14))
    assert explorer.table["carries"] == "all", "the table does not hold all settings"
    page.goto(handout_page(explorer, folder / "table.html"))
    page.locator("[role=application]").first.wait_for()
    report(f"explorer, computed ahead, {heads} heads, {n} x {n}", page.evaluate(TABLE, [MOVES]))


def measure_kernel(page: Page, server) -> None:
    lab = Lab(page, server, "bench.ipynb", WEIGHTS, SMALL, "print(ended)", EXPLORER)
    lab.run(0)
    firsts = []
    for _ in range(8):
        page.evaluate("document.querySelectorAll('.mha-explorer').forEach((old) => old.remove())")
        page.evaluate(FIRST)
        lab.run(1).locator("[role=application]").first.wait_for()
        firsts.append(page.evaluate("window.firstPicture") - float(lab.run(2).inner_text()))
    report("explorer, first picture after the cell ran", firsts)
    page.evaluate("document.querySelectorAll('.mha-explorer').forEach((old) => old.remove())")
    lab.run(3).locator("[role=application]").first.wait_for()
    report("explorer, through the kernel, 8 heads, 32 x 32", page.evaluate(KERNEL, [MOVES]))
    lab = Lab(page, server, "matplotlib.ipynb", WEIGHTS, MATPLOTLIB)
    lab.run(0)
    lab.run(1).locator("img").wait_for(timeout=60_000)
    report("interact + matplotlib, 8 heads, 32 x 32", page.evaluate(INTERACT, [MOVES // 3]))


def measure_bertviz(page: Page, folder: Path, heads: int, n: int) -> None:
    scripts = os.environ.get("BERTVIZ_SCRIPTS")
    try:
        from bertviz import head_view
    except ImportError:
        scripts = None
    if not scripts:
        print("BertViz: not measured (not installed, or BERTVIZ_SCRIPTS is not set)")
        return
    layers = [weights_of(shift, heads, n)[0][None] for shift in range(6)]
    tokens = [f"t{i}" for i in range(n)]
    path = folder / "bertviz.html"
    path.write_text(
        "<meta charset=utf-8>" + head_view(layers, tokens, html_action="return").data, encoding="utf-8"
    )
    page.route(
        "https://**/*",
        lambda route: route.fulfill(
            path=Path(scripts) / route.request.url.split("/")[-1].replace("require.min", "require")
        ),
    )
    page.goto(path.as_uri())
    page.locator("#layer option").first.wait_for(state="attached")
    report(
        f"BertViz head view, another layer, {heads} heads, {n} x {n}", page.evaluate(BERTVIZ, [MOVES // 3])
    )


def main() -> None:
    print(os.popen("uptime").read().strip() if hasattr(os, "getloadavg") else "")
    print(f"{'':58} {'median':>7} {'95 %':>7}  ms")
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        browser = playwright.chromium.launch(executable_path=find_browser(), args=["--no-sandbox"])
        for heads, n in ((8, 32), (16, 64)):
            measure_table(browser.new_page(viewport={"width": 1280, "height": 720}), folder, heads, n)
        for heads, n in ((8, 32), (16, 64)):
            measure_bertviz(browser.new_page(), folder, heads, n)
        (folder / "home").mkdir()
        process, server = start_server(folder, folder / "home")
        try:
            wait_for(server, process, server.home / "log")
            measure_kernel(browser.new_page(viewport={"width": 1280, "height": 720}), server)
        finally:
            process.terminate()
            process.wait(60)
        browser.close()


if __name__ == "__main__":
    main()
