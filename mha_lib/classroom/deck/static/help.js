// The list of the deck's keys, over the slide.

export class Help {
  constructor(panel, words) {
    this.words = words;
    this.dialog = Object.assign(document.createElement("dialog"), { id: "deck-help" });
    panel.node.append(this.dialog);
  }

  list(commands) {
    const keys = Map.groupBy(commands, ({ name }) => name);
    const lines = [...keys].map(([name, group]) => [
      Object.assign(document.createElement("kbd"), { textContent: group.map(this.#labelOf).join("  ") }),
      Object.assign(document.createElement("span"), { textContent: this.words.help[name] }),
    ]);
    this.dialog.replaceChildren(...lines.flat());
  }

  /** "Shift Enter", each part as this language calls it. */
  #labelOf = ({ key }) => {
    const parts = key.split(" ").map((part) => this.words.key_names[part] ?? part);
    return parts.join(" ");
  };

  get isOpen() {
    return this.dialog.open;
  }

  open() {
    this.dialog.showModal();
  }

  close() {
    this.dialog.close();
  }
}
