"""A student's copy of a lesson, open in JupyterLab."""

import re

from nbformat.v4 import new_code_cell, new_markdown_cell
from playwright.sync_api import Locator, Page, expect

from mha_lib.classroom.lesson.language import words_in
from tests.browser.conftest import JupyterServer
from tests.browser.new_lesson import cell_in_lab

WORDS = words_in("en")["seat"]
STUB = "def mine(scores, mask):\n    return ...  # your answer"


def cell(name, source, kind="-", tags=(), make=new_code_cell, **metadata):
    made = make(source, metadata={"slideshow": {"slide_type": kind}, "tags": list(tags)} | metadata)
    made.id = name
    return made


def text(name, source, kind="slide"):
    return cell(name, source, kind, make=new_markdown_cell)


class Seat:
    def __init__(self, page: Page, course: JupyterServer, path: str = "work/en/07_lesson.ipynb"):
        self.page, self.course, self.words, self.file = page, course, WORDS, course.folder / path
        self.address = course.address("lab", path)
        self.go_on = self.file.parent / "go-on"  # a file for which a cell waits

    def open(self):
        self.course.trust(self.file)
        self.page.goto(f"{self.address}&reset")
        expect(self.page.locator(".jp-NotebookPanel")).to_have_attribute("data-seat", "ready")
        expect(self.page.get_by_text("Python 3 (ipykernel) | Idle")).to_be_visible()
        return self

    @property
    def progress(self) -> Locator:
        return self.page.locator(".mha-progress")

    def cell(self, name: str) -> Locator:
        return cell_in_lab(self.page, self.file, name)

    def run(self, name: str) -> Locator:
        self.cell(name).locator(".cm-content").click()
        self.page.keyboard.press("Control+Enter")
        return self.cell(name)

    def write(self, name: str, source: str) -> None:
        self.cell(name).locator(".cm-content").fill(source)

    def output(self, name: str) -> Locator:
        return self.cell(name).locator(".jp-OutputArea-output")

    def choose(self, name: str, command: str) -> None:
        self.cell(name).locator(".cm-content, .jp-MarkdownOutput").first.click(button="right")
        self.page.locator(".lm-Menu").get_by_text(self.words[command], exact=True).click()

    def save(self) -> None:
        self.page.keyboard.press("Control+s")
        expect(self.page.locator(".lm-TabBar-tab.jp-mod-dirty")).to_have_count(0)

    def restart(self) -> None:
        self.page.locator("[data-command='notebook:restart-kernel']").click()
        self.page.get_by_role("button", name="Confirm Kernel Restart").click()

    def choose_in_menu(self, command: str) -> None:
        self.progress.get_by_role("button", name=self.words["menu"]).click()
        self.page.locator(".lm-Menu").get_by_text(self.words[command], exact=True).click()

    def run_all(self) -> None:
        self.page.get_by_role("menuitem", name="Run", exact=True).click()
        self.page.get_by_text("Run All Cells", exact=True).click()
        expect(self.output("check")).to_contain_text("masked_softmax")

    def expect_active(self, name: str) -> None:
        expect(self.cell(name)).to_have_class(re.compile("jp-mod-active"))

    def guess(self, name: str) -> Locator:
        return self.cell(name).get_by_role("textbox", name=self.words["your_guess"])

    @property
    def set_up_button(self) -> Locator:
        return self.page.get_by_text(self.words["set_up"], exact=True)

    def set_up(self) -> None:
        self.set_up_button.click()
        expect(self.page.get_by_text(self.words["is_set_up"])).to_be_visible()

    def notice(self, sentence: str) -> Locator:
        return self.page.get_by_role("alert").get_by_text(sentence)
