// What a cell will show, guessed from its code, so that room is kept for it and the code need not move when it
// comes: the lines of printed text, each as wide as its number of `ems`, and the box of a picture.

const EM = 0.602; // the width of a letter of code
const PRINTED = { width: 40 * EM, lines: 4 };
const CHECKED = { width: 97 * EM, lines: 1 };
const PICTURE = { width: 500, height: 230 };

const repeat = ({ width, lines }) => Array(lines).fill(width);
const isIndented = (line) => /^\s/.test(line);
const STATEMENT =
  /^(\w[\w., ]*(:.*)?=[^=]|(assert|def|class|import|from|for|with|if|try|return|del)\b|[)}\]]|#|@)/;

/** As measured of an output that is there: {text, picture, explorer, fixed}. */
export function guessOutput(lines) {
  const source = lines.join("\n");
  const last = lines.findLast((line) => line.trim()) ?? "";
  const nothing = { text: [], picture: null, explorer: false, fixed: null };
  if (/\bexplore\(/.test(source)) return nothing; // its code is folded away when it comes
  const text = [...passed(source), ...(/\bprint\(/.test(source) ? repeat(PRINTED) : [])];
  if (/^check\./.test(last)) return { ...nothing, text: [...text, ...repeat(CHECKED)] };
  if (/\b(show|draw)_\w+\(/.test(source.replace(/\bdef \w+/g, "")))
    return { ...nothing, text, picture: PICTURE };
  const isValue = !isIndented(last) && !STATEMENT.test(last) && !/^print\(|;$/.test(last);
  return { ...nothing, text: isValue ? [...text, PRINTED.width] : text };
}

/** A passed assert says its message; where none of a cell has one, each says what holds. */
function passed(source) {
  const asserts = source.match(/^\s*(assert |[\w.]*assert_close\().*$/gm) ?? [];
  const messages = asserts.map((line) => /, f?"([^"]*)"\)?$/.exec(line)?.[1]).filter(Boolean);
  const facts = asserts.map((line) => line.replace(/^\s*(assert |.*assert_close)/, ""));
  return (messages.length ? messages : facts).map((text) => (text.length + 2) * EM);
}
