"""A screen reader says in an explorer as the documents say: their table is held to the accessibility tree."""

import re

import numpy as np
import pytest

from mha_lib.classroom import explore
from mha_lib.classroom.lesson.language import speak
from tests.browser.explorers import handout_page
from tests.lessons import ROOT
from tests.waiting import eventually

KEYS = ["Tab", "ArrowRight", "Tab", "Tab", "ArrowDown", "ArrowRight", "Enter", "Escape"]
ROW = re.compile(r"^\| `([^`]+)` \| (.*) \|$", re.M)
TOKENS = ["the", "cat", "sat"]


def heard_at(session):
    """The element with the focus, by its name, role and value, and the sentence of the live region."""

    def nodes_at(script):
        found = session.send("Runtime.evaluate", {"expression": script})["result"]["objectId"]
        return session.send("Accessibility.queryAXTree", {"objectId": found})["nodes"]

    said = lambda node, name: str(node.get(name, {}).get("value", ""))  # noqa: E731
    focused = nodes_at("document.activeElement")[0]
    value_text = "document.activeElement.getAttribute('aria-valuetext') ?? ''"  # the tree here leaves it out
    value = session.send("Runtime.evaluate", {"expression": value_text})["result"]["value"]
    parts = [said(focused, "name"), said(focused, "role"), value]
    texts = [
        node
        for node in nodes_at("document.querySelector('[role=status]')")
        if node["role"]["value"] == "StaticText"
    ]
    return ", ".join(filter(None, parts)), "".join(said(text, "name") for text in texts)


def expect_heard(session, before, expected):
    """Wait until what is new is as expected; returns all that is said."""

    def new():
        pairs = zip(before, heard_at(session), strict=True)
        return " · ".join(now for old, now in pairs if now != old)

    eventually(lambda: new() == expected, lambda: f"{expected}, but {new()}")
    return heard_at(session)


@pytest.mark.parametrize("language", ["en", "zh"])
def test_each_key_says_what_the_document_says(page, tmp_path, language):
    speak(language)

    def weights_of(num_heads=1):
        return np.stack([np.tril(np.ones((3, 3))) / [[1], [2], [3]], np.eye(3)])[:num_heads]

    explorer = explore(weights_of, num_heads=[1, 2], query_labels=TOKENS, key_labels=TOKENS)
    page.goto(handout_page(explorer, tmp_path / "heard.html"))
    page.locator(".mha-explorer [role=status]", has_text="“the”").wait_for()
    session = page.context.new_cdp_session(page)
    page.locator("main").click(position={"x": 1, "y": 1})
    document = (ROOT / "docs" / language / "teach.md").read_text(encoding="utf-8")
    rows = [row for row in ROW.findall(document) if row[0] in KEYS]
    assert [key for key, _ in rows] == KEYS
    before = ("", "")
    for key, expected in rows:
        page.keyboard.press(key)
        before = expect_heard(session, before, expected)
