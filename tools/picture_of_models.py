"""Make the picture of the page on any model's heads: the explorer on a GPT-2 that can repeat a text.

``.venv/bin/python tools/picture_of_models.py zh`` (or ``en``) trains a GPT-2 of 3 layers × 4 heads to repeat
random words, opens its heads in an installed Chromium or Chrome, sorted by induction, and writes
``img/models-zh.png``. It needs what ``make lint`` sets up, and takes two minutes.
"""

import sys
import tempfile
from pathlib import Path
from typing import Any

import torch
from playwright.sync_api import ViewportSize, sync_playwright
from torch import nn
from transformers import GPT2Config, GPT2LMHeadModel

from mha_lib.classroom import explore_model
from mha_lib.classroom.lesson.language import speak
from mha_lib.classroom.pages.browser import require_browser
from tests.browser.explorers import handout_page

ROOT = Path(__file__).parents[1]
SHOWN = ["the", "cat", "sat", "on", "a", "mat", "and", "saw", "two"]
WORDS = [*SHOWN, "dogs", "run", "from", "one", "old", "tree", "to", "new", "house", "by", "river"]
STEPS, BATCH, LONGEST = 700, 64, 20
SIZE = ViewportSize(width=840, height=390)  # as wide as GitHub shows a page
STYLE = f"""
:root {{ --explorer-room: {SIZE["height"] - 16}px; }}
body::after {{ content: ""; position: fixed; inset: 0; z-index: 8; background: white; }}
.widget {{ position: fixed; inset: 0; z-index: 9; max-width: none; margin: 8px; border: 0; }}
.mha-explorer {{ box-shadow: none; font-size: 13.5px; }}
"""


def trained_to_repeat() -> Any:
    """A GPT-2 that has seen random words, said twice, and predicts the second half."""
    torch.manual_seed(0)
    config = GPT2Config(
        vocab_size=len(WORDS),
        n_positions=2 * LONGEST,
        n_embd=64,
        n_layer=3,
        n_head=4,
        resid_pdrop=0,
        embd_pdrop=0,
        attn_pdrop=0,
        bos_token_id=0,
        eos_token_id=0,
    )
    model = GPT2LMHeadModel(config)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    for step in range(STEPS):
        count = int(torch.randint(6, LONGEST + 1, ()))
        tokens = torch.randint(len(WORDS), (BATCH, count)).repeat(1, 2)
        logits = model(tokens).logits[:, count:-1]
        loss = nn.functional.cross_entropy(logits.flatten(0, 1), tokens[:, count + 1 :].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 100 == 0 or step == STEPS - 1:
            print(f"step {step}: loss {loss.item():.2f}", flush=True)
    return model.eval()


def draw(language: str, model: Any) -> Path:
    """Write the picture for one language; returns its file."""
    speak(language)
    text = [*SHOWN, *SHOWN]
    explorer = explore_model(model, torch.tensor([[*map(WORDS.index, text)]]), text)
    names = [control["texts"] for control in explorer.controls if control["trait"] == "measure"]
    explorer.measure = len(names[0]) - 1  # induction comes last
    explorer.order = 1  # the highest first
    file = ROOT / "img" / f"models-{language}.png"
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as folder:
        browser = playwright.chromium.launch(executable_path=require_browser())
        page = browser.new_page(viewport=SIZE, device_scale_factor=2, color_scheme="light")
        page.goto(handout_page(explorer, Path(folder) / "picture.html"))
        page.add_style_tag(content=STYLE)
        page.locator(".mha-explorer[data-fits] [role=button]").first.wait_for()
        page.locator("[role=status]", has_text="12").wait_for()
        page.screenshot(path=file)
    return file


if __name__ == "__main__":
    torch.set_num_threads(1)  # more would be slower: the model is small
    repeating = trained_to_repeat()
    for language in sys.argv[1:]:
        file = draw(language, repeating)
        print(f"{file}  {file.stat().st_size / 1000:.0f} KB")
