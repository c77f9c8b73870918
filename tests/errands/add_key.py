"""A key of the deck: U goes up to the first slide, as Home does."""

from pathlib import Path

from tests.errands.edits import add_above, add_at_end, add_below

HEADING = "Give the deck a key"
TESTS = ["-k", "u_goes or no_key or help or language or gap or english", "tests/browser/test_deck_keys.py"]
TESTS += ["tests/browser/test_deck_show.py", "tests/classroom/lesson"]
SAID = {"en": "to the very first slide", "zh": "回到最前面的一页"}
TEST = """

def test_u_goes_to_the_top(deck: Page) -> None:
    deck.keyboard.press("End")
    expect(current(deck)).not_to_have_id("slide-0-0")
    deck.keyboard.press("u")
    expect(current(deck)).to_have_id("slide-0-0")
"""


def make(root: Path) -> None:
    classroom = root / "mha_lib" / "classroom"
    keys = classroom / "jupyter" / "deck" / "keys.js"
    add_below(keys, '{ keys: "Home"', '  { keys: "U", modes: "deck", name: "top", act: goHome },\n')
    for language, said in SAID.items():
        add_above(
            classroom / "words" / language / "interface.json", '      "sorter": ', f'      "top": "{said}",\n'
        )
    add_at_end(root / "tests" / "browser" / "test_deck_keys.py", TEST)
