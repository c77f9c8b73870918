// Keeps a result in sight. Figures are drawn after their cell has run, and grow: so the page scrolls again whenever a
// cell changes its size, until the student acts.

const ACTS = ["wheel", "touchmove", "pointerdown", "keydown"];

export class Sight {
  #scrolling; // an observer of the cells that are kept in sight

  constructor(notebook) {
    this.notebook = notebook;
    const release = () => this.#scrolling?.disconnect();
    for (const act of ACTS) notebook.node.addEventListener(act, release, { capture: true, passive: true });
  }

  /**
   * Keep the outputs of these cells in sight, with `asking` above them where the window has room for both. Of outputs
   * that are taller than the window, the beginning is shown: controls stand above their figure.
   */
  keep(cells, asking) {
    const shown = cells.filter(({ model, isHidden }) => model.outputs?.length && !isHidden);
    if (!shown.length) return;
    const [first, last] = [shown[0].outputArea.node, shown.at(-1).node];
    this.#scrolling?.disconnect();
    this.#scrolling = new ResizeObserver(() => this.#scroll([asking.node, first], last));
    for (const { node } of [asking, ...shown]) this.#scrolling.observe(node);
  }

  /** Scroll as little as shows all from the first of `tops` from which all fits, or else from the last of them. */
  #scroll(tops, last) {
    const { outerNode } = this.notebook;
    const box = outerNode.getBoundingClientRect();
    const end = last.getBoundingClientRect().bottom;
    const begins = tops.map((node) => node.getBoundingClientRect().top);
    const begin = begins.find((top) => end - top <= box.height) ?? begins.at(-1);
    if (begin < box.top) outerNode.scrollTop += begin - box.top;
    else if (end > box.bottom) outerNode.scrollTop += Math.min(end - box.bottom, begin - box.top);
  }
}
