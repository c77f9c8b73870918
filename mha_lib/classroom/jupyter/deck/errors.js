// An error on a slide: what it says stands first, whole and large. Its traceback comes over the slide, by a button
// or by a key, and the wheel and the arrows scroll it. Errors inside widgets are drawn in this way, too. An error stands
// after its code and what was printed before it, which scroll above it where they are long: deck.css.
import { shownSection } from "./stage.js";

const ERROR = "application/vnd.jupyter.error";
const COLOURS = /\p{Cc}\[[\d;]*m/gu; // as a terminal reads them
const SYNTAX = /^(Syntax|Indentation|Tab)Error$/;
const PLACE = / \([^()]*, line \d+\)$/; // the end of what a SyntaxError says; its traceback says it better
const SHORT = 4; // lines of a traceback that stands on the slide: a SyntaxError's points at the code
const FAILED = /^-+> (\d+) /m; // a line of the cell in a traceback
const LEAST = 0.2; // of the height of a slide
const OPEN = ".deck-traceback:popover-open";

/** Draw all errors of the notebook in this way; it has to be called before the notebook opens. */
export async function drawErrors({ app, load, words }) {
  const { IRenderMimeRegistry, RenderedCommon, renderText } = await load("@jupyterlab/rendermime");

  class DrawnError extends RenderedCommon {
    render({ data }) {
      const { said, traceback } = readError(data[ERROR]);
      const host = document.createElement("div");
      const { sanitizer, translator } = this;
      renderText({ host, source: traceback, sanitizer, translator }); // a pre with the colours of a terminal
      this.node.classList.add("jp-RenderedText", "deck-error");
      [, this.node.dataset.line] = FAILED.exec(traceback.replace(COLOURS, "")) ?? [];
      const isShort = traceback.split("\n").length <= SHORT;
      this.node.replaceChildren(make("pre", said), ...(isShort ? host.children : folded(said, host, words)));
    }
  }

  const registry = await app.resolveRequiredService(IRenderMimeRegistry);
  const createRenderer = (options) => new DrawnError(options);
  registry.addFactory({ safe: true, mimeTypes: [ERROR], createRenderer }, 0);
  document.addEventListener("slidechanged", hideTraceback);
}

/** Give each error its room, and show once the line that failed, or the end of the code, and that of what was printed. */
export function holdErrors(section, roomOf) {
  for (const error of section.querySelectorAll(".deck-error")) {
    error.style.setProperty("--room", `${Math.max(roomOf(error), LEAST * section.clientHeight)}px`);
    if ("held" in error.dataset) continue;
    const cell = error.closest(".jp-Cell");
    for (const part of cell.querySelectorAll(".jp-InputArea-editor, .jp-RenderedText:not(.deck-error)")) {
      const line = part.querySelectorAll(".cm-line")[error.dataset.line - 1]; // far down, it may not be drawn yet
      if (part.scrollHeight > part.clientHeight) error.dataset.held = "";
      part.scrollTop = line ? line.offsetTop - part.clientHeight / 2 : part.scrollHeight;
    }
  }
}

/** The browser forgets how far a slide was scrolled while it was not shown. */
export function releaseErrors(section) {
  for (const error of section.querySelectorAll(".deck-error")) delete error.dataset.held;
}

/** Returns the message of an error, and its traceback without the message. */
function readError({ ename, evalue, traceback }) {
  const message = SYNTAX.test(ename) ? evalue.replace(PLACE, "") : evalue;
  const said = [ename, message].filter(Boolean).join(": ").replace(COLOURS, "");
  const lines = traceback.join("\n").trimEnd().split("\n");
  return { said, traceback: lines.slice(0, -said.split("\n").length).join("\n") };
}

function folded(said, traceback, words) {
  const button = make("button", words.traceback);
  const page = Object.assign(make("div"), { className: "deck-traceback", popover: "auto", tabIndex: 0 });
  page.autofocus = true; // so that the arrows scroll it
  page.append(make("pre", said), ...traceback.children);
  button.popoverTargetElement = page;
  return [button, page];
}

const make = (tag, textContent = "") => Object.assign(document.createElement(tag), { textContent });

/** Show the traceback of the slide's first error; again, the next one, until all were shown. False where there is none. */
export function showTraceback() {
  const tracebacks = [...shownSection().querySelectorAll(".deck-traceback")];
  const next = tracebacks.findIndex((page) => page.matches(OPEN)) + 1;
  hideTraceback();
  tracebacks[next]?.showPopover();
  return tracebacks.length > 0;
}

export const hideTraceback = () => document.querySelector(OPEN)?.hidePopover();

/** What the errors of a slide say, as elements. */
export const errorsOn = (section) => [...section.querySelectorAll(".deck-error > pre:first-child")];
