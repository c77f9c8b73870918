// All slides at once, over the deck: the arrows choose one, Enter or a click goes there, Escape goes back.
import { dress, fitPictures, followTheme, pictureOf } from "./picture.js";
import { goTo, headingOf, sections, shownSection } from "./stage.js";
import { drawUnseen } from "./unseen.js";

const MOST_COLUMNS = 6; // so that a title can be read

export class Overview {
  constructor({ panel, title, passKey, fit }) {
    Object.assign(this, { panel, title, passKey, fit });
  }

  get isOpen() {
    return Boolean(this.frame);
  }

  toggle() {
    if (this.isOpen) this.close();
    else this.#open();
  }

  #open() {
    this.frame = Object.assign(document.createElement("iframe"), { id: "deck-overview", title: this.title });
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
    this.columns = Math.min(MOST_COLUMNS, Math.ceil(Math.sqrt(sections().length)));
    dress(page);
    page.body.classList.add("deck-overview");
    page.body.role = "listbox";
    page.body.style.setProperty("--columns", this.columns);
    page.body.append(...sections().map((section) => this.#cellOf(section, page)));
    fitPictures(page);
    page.defaultView.onkeydown = this.passKey;
    this.theme = new MutationObserver(() => followTheme(page));
    this.theme.observe(document.body, { attributeFilter: ["data-jp-theme-light"] });
    this.#choose(sections().indexOf(shownSection()));
    this.#drawUnseen(page);
  }

  /** Draw what was not shown yet, one slide after the other, while the overview can be used. */
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

  /** Does what a key does here; false for the keys that do what they always do. */
  takesKey({ key, altKey, metaKey }) {
    if (!this.isOpen || altKey || metaKey) return false;
    const last = sections().length - 1;
    const { chosen, columns } = this;
    const targets = {
      ArrowLeft: chosen - 1,
      ArrowRight: chosen + 1,
      ArrowUp: chosen - columns,
      ArrowDown: chosen + columns,
      PageUp: chosen - columns,
      PageDown: chosen + columns,
      Home: 0,
      End: last,
    };
    if (key in targets) this.#choose(Math.max(0, Math.min(last, targets[key])));
    else if (["Enter", " "].includes(key)) this.#leaveFor(sections()[chosen]);
    else if (key === "Escape") this.close();
    else return false;
    return true;
  }

  #choose(index) {
    this.chosen = index;
    const cells = [...this.frame.contentDocument.body.children];
    for (const [place, cell] of cells.entries()) cell.ariaSelected = String(place === index);
    cells[index]?.scrollIntoView({ block: "nearest" });
  }

  #leaveFor(section) {
    this.close();
    goTo(section);
  }
}
