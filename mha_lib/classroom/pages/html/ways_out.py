"""Remove everything that would lead a reader away from a page without a click."""

import re
from collections.abc import Callable

from bs4 import Tag

# Browsers ignore case, spaces and line ends when they read the start of an address.
SCRIPTS = ("javascript:", "vbscript:")
UNSEEN = re.compile(r"[\x00-\x20]+")
# These elements open another page by themselves, change the meaning of all addresses, or fetch ahead.
LEADING_AWAY = "meta[http-equiv], base, script[type=speculationrules i]"


def close_ways_out(page: Tag, report: Callable[[str, Tag, str], object]) -> None:
    """Remove them, and ``report`` each element and the address that it would have opened."""
    for element in page.select(LEADING_AWAY):
        address = element.get("content") or element.get("href") or element.string or ""
        report("closed", element, str(address))
        element.decompose()
    for form in page.find_all("form"):  # sending one replaces the page, even if the content policy blocks it
        form.name, form.attrs = "div", {}
    # An element called "body" would hide document.body from scripts.
    for element in page.select("img, iframe, object, embed"):
        element.attrs.pop("name", None)
    for element in page.find_all(True):
        for name, value in list(element.attrs.items()):
            is_script = UNSEEN.sub("", str(value)).lower().startswith(SCRIPTS)
            if is_script or name == "formaction":
                report("closed", element, str(value))
                del element[name]
