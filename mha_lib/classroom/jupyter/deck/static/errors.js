// An error on a slide: what it says stands first, whole and large. Its traceback comes over the slide, by a button
// or by a key, and the wheel and the arrows scroll it. Errors inside widgets are drawn in this way, too. An error stands
// after its code and what was printed before it; where these leave it no room, they scroll.
import { sum } from "./arrange.js";
import { shownSection } from "./stage.js";

const ERROR = "application/vnd.jupyter.error";
const COLOURS = /\p{Cc}\[[\d;]*m/gu; // as a terminal reads them
const SYNTAX = /^(Syntax|Indentation|Tab)Error$/;
const PLACE = / \([^()]*, line \d+\)$/; // the end of what a SyntaxError says; its traceback says it better
const SHORT = 4; // lines of a traceback that stands on the slide: a SyntaxError's points at the code
const FAILED = /^-+> (\d+) /m; // a line of the cell in a traceback
const LEAST_ERROR = 0.35; // of the height of a slide
const LEAST_PART = 0.12; // of code, or of what was printed, that scrolls
const PARTS = `.jp-CodeCell:not(.reveal-skip, [data-output=beside]) .jp-InputArea-editor,
  .jp-OutputArea-output.jp-RenderedText:not(.deck-error)`;
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
  document.addEventListener("selectionchange", () => {
    edited = getSelection().anchorNode?.parentElement?.closest(".cm-line") ?? edited;
  });
}

let edited; // the line of code in which the cursor was last

/** Give each error of a slide its room; `roomOf(error)` is the height from its top to the foot line as all stands now. */
export function holdErrors(section, roomOf) {
  const all = section.clientHeight;
  const errors = [...section.querySelectorAll(".deck-error")];
  const parts = [...section.querySelectorAll(PARTS)].reverse(); // the nearest above the last error scrolls first
  const heights = new Map(parts.map((part) => [part, wholeOf(part)]));
  for (const error of errors) {
    const now = roomOf(error) + sum(parts.map((part) => part.offsetHeight - heights.get(part)));
    const least = Math.min(error.scrollHeight + 1, LEAST_ERROR * all);
    let room = now;
    for (const part of parts.filter((one) => isBefore(one, error))) {
      const given = Math.max(0, Math.min(least - room, heights.get(part) - LEAST_PART * all));
      heights.set(part, heights.get(part) - given);
      room += given;
    }
    error.style.setProperty("--room", `${Math.floor(Math.max(room, least))}px`);
  }
  for (const [part, height] of heights)
    shorten(part, height < wholeOf(part) ? `${Math.floor(height)}px` : "");
}

const wholeOf = (part) => part.scrollHeight + part.offsetHeight - part.clientHeight;
const isBefore = (part, error) => part.compareDocumentPosition(error) & Node.DOCUMENT_POSITION_FOLLOWING;

/** Let a part scroll in this height: code to the line that was edited, or else failed; what was printed to its end. */
function shorten(part, height) {
  if (part.style.getPropertyValue("--height") === height) return;
  part.style.setProperty("--height", height);
  part.toggleAttribute("data-shortened", Boolean(height));
  const failed = part.closest(".jp-Cell").querySelector(".deck-error")?.dataset.line;
  const line = part.contains(edited) ? edited : part.querySelectorAll(".cm-line")[failed - 1];
  part.scrollTop = line ? line.offsetTop - part.clientHeight / 2 : part.scrollHeight;
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

/** Show the traceback of the slide's first error; again, that of the next one, until all were shown. */
export function showTraceback() {
  const tracebacks = [...shownSection().querySelectorAll(".deck-traceback")];
  const next = tracebacks.findIndex((page) => page.matches(OPEN)) + 1;
  hideTraceback();
  tracebacks[next]?.showPopover();
}

export const hideTraceback = () => document.querySelector(OPEN)?.hidePopover();

/** What the errors of a slide say, as elements. */
export const errorsOn = (section) => [...section.querySelectorAll(".deck-error > pre:first-child")];
