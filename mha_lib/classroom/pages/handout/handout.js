// The page itself: code that can be copied, boxes that scroll by keyboard, contents that show where one is,
// and paper. WORDS come from the page.

const SECONDS_OF_THANKS = 1.5;
const PAPER = 643 / 0.75; // pixels of the screen that fit on A4, where letters have three quarters of their size
const SMALLEST = 0.6; // on paper, of what is too wide: words break in a table that would have to be smaller still

function addCopyButton(block) {
  const button = document.createElement("button");
  button.className = "copy";
  button.textContent = WORDS.copy;
  button.addEventListener("click", () => copy(block.querySelector("code"), button));
  block.append(button);
}

async function copy(code, button) {
  try {
    await navigator.clipboard.writeText(code.textContent);
    button.textContent = WORDS.copied;
    setTimeout(() => {
      button.textContent = WORDS.copy;
    }, 1000 * SECONDS_OF_THANKS);
  } catch {
    getSelection().selectAllChildren(code); // the reader's own Ctrl+C does the rest
  }
}

/** Let boxes that scroll take the focus, so that keys scroll them too, and show on which sides there is more. */
function showMore(box) {
  const { scrollLeft, scrollTop, scrollWidth, scrollHeight, clientWidth, clientHeight } = box;
  const scrollsDown = getComputedStyle(box).overflowY !== "hidden";
  const more = {
    left: scrollLeft > 1,
    right: scrollLeft + clientWidth < scrollWidth - 1,
    above: scrollsDown && scrollTop > 1,
    below: scrollsDown && scrollTop + clientHeight < scrollHeight - 1,
  };
  for (const side in more) box.style.setProperty(`--${side}`, more[side] ? "2.5rem" : "0px");
  const sides = Object.keys(more).filter((side) => more[side]);
  // Within a line nothing scrolls, though Firefox gives it a scrollWidth.
  if (sides.length && clientWidth) {
    box.dataset.more = sides.join(" ");
    box.tabIndex = 0;
  } else {
    delete box.dataset.more;
    box.removeAttribute("tabindex");
  }
}

/** A formula within a line does not break: one that is wider than the line scrolls too. */
function letWideFormulasScroll() {
  for (const formula of document.querySelectorAll("span.formula")) {
    formula.classList.remove("wide");
    const line = formula.closest("p, li, td, th, dd, h1, h2, h3, h4, h5, h6, summary, main");
    formula.classList.toggle("wide", formula.getBoundingClientRect().width > line.clientWidth);
  }
}

function fitOnPaper(box) {
  const scale = Math.min(1, PAPER / box.scrollWidth);
  const isTable = box.matches(".table, .html");
  box.style.setProperty("--on-paper", isTable ? Math.max(SMALLEST, scale) : scale);
  box.toggleAttribute("data-breaks", isTable && scale < SMALLEST);
}

/** The contents: beside the text on a wide screen, folded above it on a narrow one. */
function showContents(details) {
  const nav = details.parentElement;
  const items = [...details.querySelectorAll("li")];
  const headings = items.map((item) =>
    document.getElementById(item.firstChild.getAttribute("href").slice(1)),
  );
  const isSection = (item) => item.className === "level-2";
  const sections = items.map((_, index) =>
    items
      .slice(0, index + 1)
      .filter(isSection)
      .pop(),
  );
  const beside = matchMedia("(min-width: 72rem)");

  /** Marks the section that is read, and beside the text shows the parts of that section alone. */
  const markSection = () => {
    const isAbove = (heading) => heading?.getBoundingClientRect().top < innerHeight / 3;
    const here = headings.lastIndexOf(headings.filter(isAbove).pop());
    for (const [index, item] of items.entries()) {
      item.firstChild.ariaCurrent = index === here ? "true" : null;
      item.hidden = beside.matches && !isSection(item) && sections[index] !== sections[here];
    }
    if (here >= 0) nav.scrollTop = items[here].offsetTop - nav.clientHeight / 2;
  };
  const foldOrUnfold = () => {
    details.open = beside.matches;
    markSection();
  };
  details.addEventListener("click", (event) => {
    if (event.target.closest("a") && !beside.matches) details.open = false;
  });
  addEventListener("scroll", markSection, { passive: true });
  beside.addEventListener("change", foldOrUnfold);
  foldOrUnfold();
}

for (const block of document.querySelectorAll(".code")) addCopyButton(block);
for (const cell of document.querySelectorAll("[data-steps]")) {
  const image = cell.querySelector("img");
  if (image) addSlider(image, cell.dataset.steps, WORDS.figure_steps);
}
const boxes = document.querySelectorAll("pre, .formula, .table, .html, .picture");
const sizes = new ResizeObserver((changes) => {
  for (const { target } of changes) showMore(target);
});
for (const box of boxes) {
  box.addEventListener("scroll", () => showMore(box), { passive: true });
  sizes.observe(box);
}
function measure() {
  letWideFormulasScroll();
  boxes.forEach(showMore);
}
addEventListener("resize", measure);
document.fonts.ready.then(measure); // formulas bring theirs along
measure();
const contents = document.querySelector("nav details");
if (contents) showContents(contents);
// Paper cannot be unfolded: answers are opened for it, and folded again after it.
addEventListener("beforeprint", () => {
  const folds = document.querySelectorAll("main details:not([open], .fold-code)");
  const setAll = (open) => {
    for (const fold of folds) fold.open = open;
  };
  setAll(true);
  boxes.forEach(fitOnPaper);
  addEventListener("afterprint", () => setAll(false), { once: true });
});
/** The step, or whatever else the address names; null where it names nothing. */
const named = () => document.getElementById(decodeURIComponent(location.hash.slice(1)));
if (named()) {
  // Live pictures above the named step grow after the browser has gone there: go again, until the reader acts.
  const grown = new ResizeObserver(() => named()?.scrollIntoView({ behavior: "instant" }));
  grown.observe(document.body);
  for (const act of ["wheel", "touchstart", "pointerdown", "keydown"])
    addEventListener(act, () => grown.disconnect(), { once: true, passive: true });
}
