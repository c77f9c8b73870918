// biome-ignore-all lint/performance/useDomNodeTextContent: what matters is the text that the class sees
// The faults of the slide that is shown, as a list of sentences: decks.py runs this in a function.
const slide = document.querySelector("section.present > section.present");
const all = (selector) =>
  [...slide.querySelectorAll(selector)].filter((node) => node.checkVisibility({ visibilityProperty: true }));
const unit = Math.min(innerWidth / 1024, innerHeight / 720); // as deck.css has it
const isTall = innerWidth < 1.5 * innerHeight; // such as 4:3
const sizeOf = (node) => Number.parseFloat(getComputedStyle(node).fontSize) / unit;
const name = (node) =>
  node.closest(".jp-Cell")?.innerText.trim().slice(0, 40).replace(/\s+/g, " ") ?? node.tagName;

/** Cells that reach below the line at the foot, or past the edges of the screen. */
function misplaced() {
  const foot = document.querySelector("#deck-foot").getBoundingClientRect();
  return all(".jp-Cell").flatMap((cell) => {
    const parts = [cell, ...cell.querySelectorAll(".jp-MarkdownOutput > *, img")];
    const boxes = parts.map((part) => part.getBoundingClientRect()).filter((box) => box.height);
    const low = Math.round(Math.max(...boxes.map((box) => box.bottom)) - foot.top);
    const isOff = boxes.some((box) => box.right > innerWidth + 1 || box.left < 0 || box.top < 0);
    return [
      ...(low > 1 ? [`${low} px too low: ${name(cell)}`] : []),
      ...(isOff ? [`off the screen: ${name(cell)}`] : []),
    ];
  });
}

/** How far a picture reaches into the margin of its slide, where it is seen, in a window of 4:3. */
function inMargin(node) {
  const image = node.querySelector(":scope > img");
  return image ? Math.max(0, -Number.parseFloat(getComputedStyle(image).marginRight)) : 0;
}

/** Code, output and text of which a part cannot be seen without scrolling. */
function cutOff() {
  const boxes = ".cm-scroller, .jp-OutputArea-output, .jp-OutputArea-output pre, .jp-RenderedHTMLCommon";
  return all(boxes).flatMap((node) => {
    const [wide, high] = [node.scrollWidth - node.clientWidth, node.scrollHeight - node.clientHeight];
    if (!node.clientWidth || (wide - inMargin(node) <= 2 && high <= 2)) return [];
    return [`cut off by ${wide} x ${high} px: ${name(node)}`];
  });
}

function smallType() {
  const sizes = {
    24: ".jp-MarkdownOutput :is(p, li, td)",
    18:
      ".cm-content, .jp-OutputArea-output :is(pre, p, td):not(.jupyter-widgets *, .mha-explorer *), " +
      ".mha-explorer :is(label, select, button, code, [role=status])",
  };
  return Object.entries(sizes).flatMap(([least, selector]) =>
    all(selector)
      .filter((node) => sizeOf(node) < least)
      .map((node) => `smaller than ${least} px: ${name(node)}`),
  );
}

function brokenContent() {
  const hasRawDollar = (node) =>
    [...node.childNodes].some((child) => child.nodeType === Node.TEXT_NODE && child.data.includes("$"));
  const isDeadWidget = (node) =>
    /^\s*(\w+\((children|value|layout)=|<[\w.]+ object at 0x)|Error displaying widget|Loading widget/.test(
      node.innerText,
    );
  const errors = all("[data-mime-type$=error], [data-mime-type$=stderr]");
  const dollars = all(".jp-RenderedHTMLCommon :not(code, pre, pre *)").filter(hasRawDollar);
  const images = all("img").filter((image) => image.complete && !image.naturalWidth);
  const widgets = all(".jp-RenderedText, .jupyter-widgets").filter(isDeadWidget);
  const links = [...slide.querySelectorAll(".jp-InternalAnchorLink")].filter((link) => link.offsetWidth);
  return [
    ...errors.map((node) => `error output: ${node.innerText.slice(0, 80)}`),
    ...all("mjx-merror").map((node) => `a formula with an error: ${name(node)}`),
    ...dollars.map((node) => `a raw $: ${name(node)}`),
    ...images.map((image) => `a broken image: ${image.src.slice(0, 80)}`),
    ...links.map((link) => `an unseen link takes room in a title: ${name(link)}`),
    ...widgets.map((node) => `a widget as text: ${node.innerText.slice(0, 60)}`),
  ];
}

const LETTERS = (13 * 4) / 3; // pixels: 13 points
/** Titles have one size, and letters of 13 points, the smallest of stills, have at least 18 px. */
function oddSizes() {
  const titles = slide.id === "slide-0-0" ? [] : all(":is(h1, h2):not(aside *)");
  const odd = titles.filter((title) => Math.abs(sizeOf(title) - 40) > 0.5);
  const scaleOf = (image) =>
    Math.min(image.clientWidth / image.naturalWidth, image.clientHeight / image.naturalHeight) / unit;
  const least = isTall ? 17.85 : 18.1; // a window of 4:3 leaves 17.97, less the rounding of pixels
  const stills = all(".jp-OutputArea-output img").filter((image) => scaleOf(image) * LETTERS < least);
  const drawings = all('.jp-MarkdownOutput img[src*=".svg"]');
  const narrow = drawings.filter((image) => image.clientWidth < slide.clientWidth - 110 * unit);
  return [
    ...narrow.map((image) => `a drawing of ${image.clientWidth} px leaves room: ${name(image)}`),
    ...odd.map((title) => `a title of ${sizeOf(title).toFixed(1)} instead of 40: ${name(title)}`),
    ...stills.map((image) => `a still with letters of ${(scaleOf(image) * LETTERS).toFixed(1)} px`),
  ];
}

const heightOf = (line) => {
  const range = document.createRange();
  range.selectNodeContents(line);
  return range.getBoundingClientRect().height;
};

/** In a window of 4:3, long lines may wrap on optional slides, and where code lies over its slide. */
function wrapped() {
  if (isTall && !slide.id.endsWith("-0")) return [];
  const cells = `.jp-CodeCell:not(.jp-mod-editing${isTall ? ", [data-folded]" : ""})`;
  const lines = all(`${cells} .cm-line`).filter((line) => line.textContent.trim());
  return lines
    .filter((line) => heightOf(line) > 1.7 * sizeOf(line) * unit)
    .map((line) => `code is wrapped: ${line.textContent.trim().slice(0, 40)}`);
}

/** Answers that reach too low once they are open. */
function longAnswers() {
  const answers = all("details");
  for (const answer of answers) answer.open = true;
  const low = answers.length ? misplaced() : [];
  for (const answer of answers) answer.open = false;
  return low;
}

const found = [misplaced, cutOff, smallType, brokenContent, oddSizes, wrapped, longAnswers];
globalThis.faultsOfSlide = () => {
  const faults = found.flatMap((each) => each());
  if (slide.hasAttribute("data-long")) slide.scrollTop = slide.scrollHeight; // so that the next key turns
  return faults;
};
