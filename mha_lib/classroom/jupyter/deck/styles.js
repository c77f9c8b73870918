// The looks of a deck: look.css, deck.css and panels.css, and course.css, whose text the copy carries.
// Adopted style sheets come after all others: style sheets that RISE and Reveal load later do not override them.
import { formulaColours } from "../shared/formulas.js";

/** `course` is the text of course.css, or nothing. Addresses in it are whole: no file lies beside a page of RISE. */
export async function adoptStyles(course) {
  const own = ["../look.css", "deck.css", "panels.css"].map((name) =>
    readSheet(new URL(name, import.meta.url)),
  );
  const [palette, ...sheets] = await Promise.all(own);
  const last = await new CSSStyleSheet().replace(course ?? "");
  document.adoptedStyleSheets.push(palette, ...sheets, formulaColours(palette, ".rise-enabled"), last);
}

async function readSheet(address) {
  const answer = await fetch(address);
  return new CSSStyleSheet({ baseURL: answer.url }).replace(answer.ok ? await answer.text() : "");
}
