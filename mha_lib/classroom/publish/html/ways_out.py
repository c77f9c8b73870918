"""What would lead a reader away from a page without a click of their own is taken out of it."""

import re
from collections.abc import Callable

from bs4 import Tag

# Each as a browser reads an address: whatever case, and without the spaces and line ends in it.
SCRIPTS = ("javascript:", "vbscript:")
UNSEEN = re.compile(r"[\x00-\x20]+")
# A page within the page may go elsewhere by itself, change what all addresses mean, or fetch ahead.
LEADING_AWAY = "meta[http-equiv], base, script[type=speculationrules i]"


def close_ways_out(page: Tag, complain: Callable[[Tag, str], object]) -> None:
    """Take them out; ``complain`` hears of each, with the address that it would have led to."""
    for element in page.select(LEADING_AWAY):
        address = element.get("content") or element.get("href") or element.string or ""
        complain(element, str(address))
        element.decompose()
    for form in page.find_all("form"):  # one that is sent cuts off the page, even where it may not be sent
        form.name, form.attrs = "div", {}
    for element in page.select("img, iframe, object, embed"):  # or "document" has them by that name
        element.attrs.pop("name", None)
    for element in page.find_all(True):
        for name, value in list(element.attrs.items()):
            is_script = UNSEEN.sub("", str(value)).lower().startswith(SCRIPTS)
            if is_script or name == "formaction":
                complain(element, str(value))
                del element[name]
