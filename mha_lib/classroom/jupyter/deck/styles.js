// The looks of a deck: look.css, deck.css and panels.css, and course.css, whose text the copy carries.
// Adopted style sheets come after all others: style sheets that RISE and Reveal load later do not override them.

/** `course` is the text of course.css, or nothing. Addresses in it are whole: no file lies beside a page of RISE. */
export async function adoptStyles(course) {
  const own = ["../look.css", "deck.css", "panels.css"].map((name) =>
    readSheet(new URL(name, import.meta.url)),
  );
  const [palette, ...sheets] = await Promise.all(own);
  const last = await new CSSStyleSheet().replace(course ?? "");
  document.adoptedStyleSheets.push(palette, ...sheets, formulaColours(palette), last);
}

async function readSheet(address) {
  const answer = await fetch(address);
  return new CSSStyleSheet({ baseURL: answer.url }).replace(answer.ok ? await answer.text() : "");
}

/**
 * Rules that let the formulas' colours follow the theme. The lessons' TeX names the light colour of Q, K, V
 * and O, and MathJax writes it into the style of each letter: such letters take the palette's colour.
 */
function formulaColours(palette) {
  const { style } = palette.cssRules[0];
  const rules = ["--q", "--k", "--v", "--o"].map((name) => {
    const [light] = style.getPropertyValue(name).match(/#\w{6}/);
    return `.rise-enabled mjx-container [style*="${asStyle(light)}"] { color: var(${name}) !important; }`;
  });
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(rules.join("\n"));
  return sheet;
}

/** The colour as a style attribute has it after a script has set it: rgb(0, 103, 165). */
function asStyle(colour) {
  const { style } = document.createElement("i");
  style.color = colour;
  return style.color;
}
