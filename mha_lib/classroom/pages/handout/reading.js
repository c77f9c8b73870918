// Reading alone: a slide with a guess shows its question first and what follows when it is asked for; a bar opens all.
// Without this script a `details` folds the results; on paper, everything is open. WORDS come from the page.

const KEPT = "mha-handout"; // in localStorage: what the switch in the bar says, for all handouts
const slides = [...document.querySelectorAll(".slide")];
const resultsOf = (slide) => [...slide.querySelectorAll(":is(.cell, .outputs, .code, .code span).result")];
const questionOf = (slide) => slide.querySelector(":scope > .cell.guess");
const asking = slides.filter((slide) => questionOf(slide) && resultsOf(slide).length);

/** The browser's search finds what is hidden so, and says so by the event "beforematch". */
function hide(element, hidden) {
  if (hidden) element.setAttribute("hidden", "until-found");
  else element.removeAttribute("hidden");
}

function make(kind, properties = {}, ...children) {
  const element = Object.assign(document.createElement(kind), properties);
  element.append(...children);
  return element;
}

/** The slide that is read: the first one that reaches into the lower two thirds of the window. */
function readSlide() {
  if (scrollY <= 0) return slides[0];
  return slides.find((slide) => slide.getBoundingClientRect().bottom > innerHeight / 3);
}

/** Change how long the page is, and keep what is read in its place in the window. */
function inPlace(change) {
  const slide = readSlide();
  const top = () => slide?.getBoundingClientRect().top ?? 0;
  const before = top();
  change();
  if (slide) scrollBy({ top: top() - before, behavior: "instant" });
}

function show(slide, open) {
  hideAll(resultsOf(slide), !open);
  const button = slide.querySelector(".ask button");
  button.ariaExpanded = String(open);
  button.textContent = open ? WORDS.hide_result : WORDS.show_result;
}

/** The line in which one guesses, and the button, below the question. The guess stays in this line. */
function ask(slide) {
  const name = questionOf(slide).id;
  const guess = make("input", { name, ariaLabel: WORDS.your_guess, placeholder: WORDS.your_guess });
  const button = make("button", { type: "button" });
  const line = make("form", { className: "ask", autocomplete: "off" }, guess, button);
  const toggle = (event) => {
    event.preventDefault();
    show(slide, button.ariaExpanded !== "true");
  };
  button.addEventListener("click", toggle);
  line.addEventListener("submit", toggle);
  line.addEventListener("reset", () => show(slide, false));
  slide.querySelector(":scope > .answer").replaceWith(line);
}

function kept(name) {
  try {
    return JSON.parse(localStorage.getItem(name)) ?? {};
  } catch {
    return {}; // a browser that keeps nothing, for a page from a file say
  }
}

/** Returns whether the browser keeps it. */
function keep(name, value) {
  try {
    localStorage.setItem(name, JSON.stringify(value));
    return true;
  } catch {
    return false;
  }
}

function openAll(open) {
  for (const slide of asking) show(slide, open);
}

/** The switch that opens everything. */
function makeSwitch() {
  const box = make("input", { type: "checkbox", checked: kept(KEPT).open ?? false });
  box.addEventListener("change", () => {
    inPlace(() => openAll(box.checked));
    keep(KEPT, { open: box.checked });
  });
  openAll(box.checked);
  return make("label", {}, box, WORDS.open_everything);
}

function hideAll(elements, hidden) {
  for (const element of elements) hide(element, hidden);
}

/** Show an element that the search has found, or that the address names. */
function reveal(element) {
  const slide = element.closest(".slide");
  if (asking.includes(slide) && element.closest(".result")) show(slide, true);
}

function openTarget() {
  const target = named();
  if (!target?.closest("[hidden]")) return;
  reveal(target);
  target.scrollIntoView({ behavior: "instant" });
}

if (asking.length) {
  for (const slide of asking) ask(slide);
  document.querySelector("main").prepend(make("div", { className: "reading" }, makeSwitch()));
  addEventListener("beforematch", (event) => reveal(event.target));
  addEventListener("hashchange", openTarget);
  openTarget();
  addEventListener("beforeprint", () => {
    const hidden = [...document.querySelectorAll(".result[hidden]")];
    hideAll(hidden, false);
    addEventListener("afterprint", () => hideAll(hidden, true), { once: true });
  });
}
