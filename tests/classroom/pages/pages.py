"""Reads pages for the tests of this folder."""

from bs4 import BeautifulSoup


def read(html):
    return BeautifulSoup(html, "html.parser")
