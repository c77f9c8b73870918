"""Reads and cleans pages for the tests of this folder."""

from bs4 import BeautifulSoup

from mha_lib.classroom.pages.html import Cleaner, to_html
from mha_lib.classroom.pages.html.tree import inside


def read(html):
    return BeautifulSoup(html, "html.parser")


class Cleaning:
    """Cleans pieces of one page, and pieces of pages that lie elsewhere; keeps what is complained of."""

    def __init__(self, folder):
        self.complaints: list[str] = []
        self.cleaner = Cleaner(folder, "en", self.complaints.append)

    def __call__(self, html, folder=None, language="en"):
        cleaner = Cleaner(folder, language, self.complaints.append) if folder else self.cleaner
        return inside(cleaner.clean(html))

    def markdown(self, source):
        return self(to_html(source))
