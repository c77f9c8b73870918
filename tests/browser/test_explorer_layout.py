"""The layout of an explorer's maps, through a thousand sizes: arithmetic alone, without an explorer."""

import random
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Page

from mha_lib.classroom.explorer.widget import FOLDER
from tests.browser.waiting import answer_of

EM = 18  # pixels, the letters of a deck
LAY_OUT = """async ([source, cases]) => {
  const { layOut } = await import(`data:text/javascript,${encodeURIComponent(source)}`);
  return cases.map(([maps, room]) => layOut(maps, room));
}"""
Maps = dict[str, Any]


def lay_out(page: Page, cases: list[tuple[Maps, Maps]]) -> list[Maps]:
    """The layouts of maps in their rooms."""
    source = (FOLDER / "layout.js").read_text(encoding="utf-8")
    return list(answer_of(page, LAY_OUT, [source, cases]))


def maps_of(count: int, rows: int, columns: int, label: float = 0, column_label: float = 0) -> Maps:
    """Maps whose labels are names of so many em, or else numbers."""
    return {
        "count": count,
        "rows": rows,
        "columns": columns,
        "rowLabel": label or 0.6 * len(str(rows - 1)),
        "columnLabel": column_label or label or 0.6 * len(str(columns - 1)),
        "hasRowNames": label > 0,
        "hasColumnNames": max(label, column_label) > 0,
    }


def room_of(width: float, height: float, *, is_fixed: bool = True, em: float = EM) -> Maps:
    return {"width": width, "height": height, "em": em, "isFixed": is_fixed}


def many(page: Page, seed: int, *, is_fixed: bool = True) -> Iterator[tuple[Maps, Maps, Maps]]:
    """Maps, rooms and layouts of many kinds: few and many maps and cells, with numbers or names."""
    chance = random.Random(seed)

    def case() -> tuple[Maps, Maps]:
        count, rows = chance.choice([1, 2, 3, 4, 5, 8, 12, 16]), chance.randint(1, 16)
        columns, labels = chance.randint(1, 18), [chance.choice([0, chance.uniform(0.6, 7)]) for _ in "xy"]
        room = room_of(chance.uniform(900, 1800), chance.uniform(330, 700), is_fixed=is_fixed)
        return maps_of(count, rows, columns, *labels), room

    cases = [case() for _ in range(1000)]
    if not is_fixed:
        cases += [(maps, {**room, "width": room["width"] / 4, "em": 12}) for maps, room in cases]
    for (maps, room), layout in zip(cases, lay_out(page, cases), strict=True):
        yield maps, room, layout


def test_maps_stay_in_the_room_and_reach_its_width_or_its_height(page: Page) -> None:
    for at in many(page, seed=1):
        maps, room, layout = at
        assert layout["right"] <= room["width"], at
        assert layout["height"] <= room["height"], at
        assert layout["em"] == EM, "the last row reads all labels"
        assert layout["across"] * layout["down"] - maps["count"] < layout["across"], "no empty row"
        spare = room["width"] - layout["right"], room["height"] - layout["height"]
        rounding = layout["across"] * maps["columns"], layout["down"] * maps["rows"]  # a pixel for each cell
        assert spare[0] <= rounding[0] + EM or spare[1] <= rounding[1] + 1, at


@pytest.mark.parametrize(
    ("maps", "across", "is_turned"),
    [
        (maps_of(1, 8, 1), 1, False),
        (maps_of(4, 8, 8, 3), 4, True),
        (maps_of(8, 8, 8, 2), 4, True),
        (maps_of(2, 1, 8, 2.5), 1, False),
        (maps_of(16, 8, 8), 8, False),
    ],
)
def test_the_grids_that_one_would_choose(page: Page, maps: dict, across: int, is_turned: bool) -> None:
    (layout,) = lay_out(page, [(maps, room_of(1184, 425))])
    assert (layout["across"], layout["isTurned"]) == (across, is_turned)


def test_on_a_page_maps_are_no_wider_and_never_tiny(page: Page) -> None:
    for at in many(page, seed=4, is_fixed=False):
        maps, room, layout = at
        assert layout["right"] <= room["width"], at
        assert layout["em"] == room["em"], at
        assert max(layout["cellWidth"], layout["cellHeight"]) <= 7 * room["em"] + 1, at
        least = min(8, 7 * maps["rows"]) * room["em"]  # in em: 8, unless the cells are the largest
        least = min(least, 1.9 * maps["rows"] * layout["cellWidth"])  # or as high as their width allows
        assert maps["rows"] * layout["cellHeight"] >= 0.9 * least, at
