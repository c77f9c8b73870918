"""Converts simplified Chinese to traditional Chinese as Taiwan writes it, so that nobody keeps two texts.

OpenCC converts words as well as characters (软件 becomes 軟體). ``taiwan.json`` adds the terms of the course
and corrects what OpenCC takes for one word where two words meet (个中文 would become 箇中文).
"""

import json
import re
import tempfile
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

SIMPLIFIED, TRADITIONAL = "zh", "zh-Hant"
TERMS = Path(__file__).with_name("taiwan.json")
REGIONS = re.compile("Hant|TW|HK|MO|Traditional|Taiwan|Hong Kong|Macao")  # in the names of a system

Phrases = tuple[tuple[str, str], ...]  # simplified and traditional


def is_chinese(language: str) -> bool:
    return language.split("-")[0] == SIMPLIFIED


def is_traditional(language: str) -> bool:
    return "Hant" in language.split("-")


def chinese_of(region: str) -> str:
    """The code of a region's Chinese; systems name it ``zh-HK`` or ``Chinese (Traditional)-Taiwan``."""
    return TRADITIONAL if REGIONS.search(region) else SIMPLIFIED


def to_traditional(text: str, phrases: Phrases = ()) -> str:
    """The text in traditional characters and Taiwan's terms; ``phrases`` are terms of this text alone."""
    return str(converter(phrases).convert(text))


@cache
def converter(phrases: Phrases) -> Any:
    """OpenCC with the terms of the course and these phrases as its user dictionary."""
    import opencc  # here: English lessons need none

    groups = json.loads(TERMS.read_text(encoding="utf-8")).values()
    terms = {simplified: said for group in groups for simplified, said in group.items()} | dict(phrases)
    data = Path(opencc.__file__).parent / "clib" / "share" / "opencc"
    config = json.loads(
        (data / "s2twp.json").read_text(encoding="utf-8"),
        # the full path of each dictionary, for our configuration lies in another folder
        object_hook=lambda part: part | {"file": str(data / part["file"])} if "file" in part else part,
    )
    first, *later = config["conversion_chain"]
    for step in (config["segmentation"], first):
        step["dict"] = extended(step["dict"], terms)
    for step in later:  # these replace words by Taiwan's words, and must leave the terms alone
        step["dict"] = extended(step["dict"], {said: said for said in terms.values()})
    with tempfile.TemporaryDirectory() as folder:  # OpenCC reads its configuration from a file alone
        file = Path(folder, "taiwan.json")
        file.write_text(json.dumps(config), encoding="utf-8")
        return opencc.OpenCC(str(file))


def extended(dictionary: dict[str, Any], entries: Mapping[str, str]) -> dict[str, Any]:
    """A dictionary of OpenCC with entries of ours; the longest match wins, and ours between equals."""
    ours = {"type": "inline", "entries": dict(entries)}
    return {"type": "group", "match_policy": "union", "dicts": [ours, dictionary]}
