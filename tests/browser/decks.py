"""Runs a deck, walks it, and names the faults of each step."""

import re
from pathlib import Path

from playwright.sync_api import Page, expect

from tests.browser.conftest import Watch
from tests.browser.new_lesson import POSITION, current, open_deck, press, status_of
from tests.browser.waiting import act, answer_of, becomes, measure, text_of, until

FAULTS_OF_SLIDE, FAULTS_OF_EXPLORER = (
    (Path(__file__).parent / f"{name}.js").read_text(encoding="utf-8").rstrip().removesuffix(";")
    for name in ("deck_walk", "explorer_walk")
)
STEP = f"() => ({POSITION})().join('+')"
# The step that is shown, its faults, whether there is a slide below it, and whether it is the last: all that
# a walk looks at, in one question, since each question waits for a page at rest.
LOOK = f"""() => ({{
    step: ({STEP})(),
    faults: (() => {{ {FAULTS_OF_SLIDE}; return faultsOfSlide(); }})(),
    canGoDown: Boolean(document.querySelector(".present > .present").nextElementSibling),
    isLast: !document.querySelector(".present + section, .present > .present .fragment:not(.visible)"),
}})"""
LOADED = """() => {
    const slide = document.querySelector("section.present > section.present");
    const widgets = [...slide.querySelectorAll("[data-mime-type*='widget-view']")];
    return (
        document.fonts.status === "loaded" &&
        [...slide.querySelectorAll("img")].every((image) => image.complete) &&
        !widgets.some((widget) => widget.textContent.includes("Loading widget"))
    );
}"""
IS_LIGHT = "document.body.dataset.jpThemeLight !== 'false'"  # also where nobody has chosen a theme
# Harmless errors in the console that RISE 0.43 makes with any notebook, with their causes.
HARMLESS = {
    r"Canceled future for (kernel_info|comm_info)_request": "it was asked of a kernel that was just replaced",
}
Faults = dict[str, list[str]]  # by place: a step such as "slide-3-0+1", or "console" and the like


def begin(page: Page) -> Page:
    """Bring a deck that tests share to its first slide, with no key pressed and in the light."""
    page.set_viewport_size({"width": 1280, "height": 720})
    page.locator(".jp-Notebook").focus()
    press(page, "Escape Home")
    expect(current(page)).to_have_id("slide-0-0")
    if not is_light(page):
        page.keyboard.press("d")
        expect_light(page)
    return page


def is_light(page: Page) -> bool:
    return bool(measure(page, IS_LIGHT))


def expect_light(page: Page, light: bool = True) -> None:
    becomes(page, IS_LIGHT, light)


def go_to(page: Page, slide: str) -> None:
    """Turn to a slide by the page's address, and wait until all of it has loaded."""
    act(page, "slide => { location.hash = `#/${slide}`; }", slide)
    expect(current(page)).to_have_id(slide)
    until(page, LOADED)


def slow_down(page: Page, latency: int) -> None:
    session = page.context.new_cdp_session(page)
    session.send("Network.enable")
    limits = {"offline": False, "latency": latency, "downloadThroughput": -1, "uploadThroughput": -1}
    session.send("Network.emulateNetworkConditions", limits)


def run_deck(page: Page) -> list[str]:
    """Run all of an open deck; returns the cells that failed."""
    status = status_of(page)
    page.keyboard.press("Escape")  # clears the status, so that the next one comes from the run
    expect(status).to_have_attribute("class", "")
    page.keyboard.press("Shift+R")
    expect(status).to_have_class(re.compile("done|failed"), timeout=600_000)
    expect(page.locator("#slide-0-0")).to_be_visible()
    return re.findall("^slide .*", text_of(status), re.MULTILINE)


def walk(page: Page) -> Faults:
    """Go from the first slide to the last; returns the faults of each step."""
    expect(page.locator("#deck-foot b").last).to_have_text(re.compile("1 / [0-9]+$"))
    faults: Faults = {}
    while True:
        until(page, LOADED)
        seen = measure(page, LOOK)
        faults[seen["step"]] = seen["faults"] + answer_of(page, FAULTS_OF_EXPLORER)
        if seen["isLast"]:
            return faults
        page.keyboard.press("ArrowDown" if seen["canGoDown"] else "ArrowRight")
        until(page, f"step => ({STEP})() !== step", seen["step"])


def faults_of(page: Page, watch: Watch, address: str) -> Faults:
    """The faults of a deck: when it opens, when all of it runs, and at each step."""
    open_deck(page, address)
    faults = {"opening": [*watch.errors]}
    faults |= {"running": run_deck(page)} | walk(page) | faults_around(watch, address)
    return {place: found for place, found in faults.items() if found}


def faults_around(watch: Watch, address: str) -> Faults:
    """Errors in the console, and requests to other servers than the deck's own."""
    errors = [error for error in watch.errors if not any(re.search(known, error) for known in HARMLESS)]
    return {"console": errors, "network": watch.requests_beyond(address.split("/rise/")[0])}


def report(faults: Faults) -> str:
    return "\n".join(f"{place}: {fault}" for place, found in faults.items() for fault in found)
