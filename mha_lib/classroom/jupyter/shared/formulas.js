// Lets the formulas' colours follow the theme. The lessons' TeX names the light colour of Q, K, V and O, and MathJax
// writes it into the style of each letter: such letters take the palette's colour.

/** The rules for formulas in the elements of a selector, as a style sheet; `palette` is that of look.css. */
export function formulaColours(palette, selector) {
  const { style } = palette.cssRules[0];
  const rules = ["--q", "--k", "--v", "--o"].map((name) => {
    const colour = style.getPropertyValue(name);
    const [light] = colour.match(/#\w{6}/);
    return `${selector} mjx-container [style*="${asStyle(light)}"] { color: ${colour} !important; }`;
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
