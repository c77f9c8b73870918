// A frame that shows one slide as a picture: a page as large as the deck, scaled down to a figure.
import { copyFormulaStyles, dress, fitPictures, followTheme, pictureOf } from "./picture.js";

export class Frame {
  #shown = []; // the slide and the number of its steps

  constructor(figure) {
    this.figure = figure;
    figure.innerHTML = `<iframe inert srcdoc="<!doctype html>"></iframe>`;
    this.frame = figure.querySelector("iframe");
    this.frame.onload = () => this.#draw();
  }

  show(section, steps) {
    this.#shown = section ? [section, steps] : [];
    this.#draw();
  }

  fit() {
    const { innerWidth: width, innerHeight: height } = window;
    const scale = this.figure.clientWidth / width;
    this.figure.style.height = `${height * scale}px`;
    Object.assign(this.frame.style, { width: `${width}px`, height: `${height}px`, scale });
  }

  #draw() {
    const page = this.frame.contentDocument;
    if (!page?.body) return; // not yet loaded
    const [section, steps] = this.#shown;
    if (!page.head.children.length) dress(page);
    copyFormulaStyles(page);
    followTheme(page);
    page.body.replaceChildren(...(section ? [pictureOf(section, page, steps)] : []));
    this.fit();
    fitPictures(page);
  }
}
