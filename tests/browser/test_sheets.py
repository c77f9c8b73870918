"""The instructor's pages of tables: the overview of a class, and the running order of a lesson."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from playwright.sync_api import Page

from mha_lib.classroom import __main__ as command_line
from tests.browser.pages import expect_accessible
from tests.classroom.students.reports import ADA
from tests.lessons import ROOT

pytestmark = pytest.mark.ci

PAGES = (
    "overview/overview.html",
    "overview/overview-without-names.html",
    "notes/en/03_multi_head_attention.html",
)


@pytest.fixture(scope="module")
def build(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("course")
    for name in ("notebooks", "img"):
        (root / name).symlink_to(ROOT / name)
    reports = {"a": ADA, "b": replace(ADA, student="b"), "c": replace(ADA, student="c", name=" ")}
    for name, report in reports.items():
        (root / f"{name}.report.json").write_text(json.dumps(report.as_tree()))
    (root / "half.report.json").write_text("{")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(root)
        for command in (["overview", "."], ["overview", ".", "--no-names"], ["notes"]):
            assert command_line.main(["--language", "en", *command]) == 0
    return root / "build"


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("name", PAGES)
def test_axe_finds_nothing_on_a_page_of_tables(page: Page, build: Path, name: str, theme: str) -> None:
    page.emulate_media(color_scheme="dark" if theme == "dark" else "light")
    page.goto((build / name).as_uri())
    expect_accessible(page)
