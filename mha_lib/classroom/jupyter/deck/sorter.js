// The slide sorter: all slides at once, over the deck. Its keys are in keys.js; a click goes to a slide, too.
import { drawUnseen, dress, fitPictures, followTheme, pictureOf } from "./picture.js";
import { headingOf, sections, shownSection } from "./stage.js";
import { goTo } from "./turn.js";

const MOST_COLUMNS = 6; // so that a title can be read

export class Sorter {
  constructor({ panel, title, passKey, fit }) {
    Object.assign(this, { panel, title, passKey, fit });
  }

  get isOpen() {
    return Boolean(this.frame);
  }

  open() {
    this.frame = Object.assign(document.createElement("iframe"), { id: "deck-sorter", title: this.title });
    this.columns = Math.min(MOST_COLUMNS, Math.ceil(Math.sqrt(sections().length)));
    this.chosen = sections().indexOf(shownSection()); // keys may move it before the frame is there
    this.frame.srcdoc = "<!doctype html>";
    this.frame.onload = () => this.#fill(this.frame.contentDocument);
    this.panel.node.append(this.frame);
  }

  close() {
    this.theme?.disconnect();
    this.frame.remove();
    this.frame = null;
    this.panel.content.node.focus();
  }

  #fill(page) {
    dress(page);
    page.body.classList.add("deck-sorter");
    page.body.role = "listbox";
    page.body.style.setProperty("--columns", this.columns);
    page.body.append(...sections().map((section) => this.#cellOf(section, page)));
    fitPictures(page);
    page.defaultView.onkeydown = this.passKey;
    this.theme = new MutationObserver(() => followTheme(page));
    this.theme.observe(document.body, { attributeFilter: ["data-jp-theme-light"] });
    this.#choose(this.chosen);
    this.#drawUnseen(page);
  }

  /** Draw the explorers that were not shown yet, slide by slide, while the sorter can be used. */
  async #drawUnseen(page) {
    for (const [index, section] of sections().entries()) {
      const isNew = await drawUnseen(section, this.fit);
      if (page !== this.frame?.contentDocument) return; // closed meanwhile
      if (isNew) page.body.children[index].replaceChildren(pictureOf(section, page));
    }
  }

  #cellOf(section, page) {
    const cell = Object.assign(page.createElement("div"), { role: "option" });
    cell.ariaLabel = headingOf(section)?.textContent ?? section.dataset.place;
    cell.toggleAttribute("data-optional", section.hasAttribute("data-optional"));
    cell.onclick = () => this.#leaveFor(section);
    cell.append(pictureOf(section, page));
    return cell;
  }

  /** Choose the slide that stands so many places further, or the last one there is. */
  move(by) {
    this.#choose(Math.max(0, Math.min(sections().length - 1, this.chosen + by)));
  }

  leaveForChosen() {
    this.#leaveFor(sections()[this.chosen]);
  }

  #choose(index) {
    this.chosen = index;
    const cells = [...(this.frame.contentDocument?.body?.children ?? [])];
    for (const [place, cell] of cells.entries()) cell.ariaSelected = String(place === index);
    cells[index]?.scrollIntoView({ block: "nearest" });
  }

  #leaveFor(section) {
    this.close();
    goTo(section);
  }
}
