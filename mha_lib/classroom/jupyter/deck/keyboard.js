// Hands each key to the deck (by the table in keys.js), a widget on the slide, an editor, or the notebook with RISE.
// A key pressed inside a widget belongs to the widget: the arrows move its slider, they do not turn the slide.
// A key pressed nowhere belongs to the notebook, so that Ctrl+Enter runs a cell before any click.
// A plain key, which types a letter or a sign, never comes to JupyterLab or RISE: there b adds a cell, x cuts one, and t
// opens a window that turns the deck. On a keyboard without Latin letters the place of the key counts: "ч" is X.
// A control that was moved with the mouse does not keep the keys: after a click or a drag they are the deck's
// again, except where one types. With the keyboard, Escape gives them back.

const HIDDEN = "data-lm-suppress-shortcuts"; // on a node, it hides the node's keys from JupyterLab's shortcuts
const WIDGET = ".jp-OutputArea-output";
const EDITORS =
  ".cm-editor, textarea, select, [contenteditable=true], input:not([type=range], [type=checkbox], [type=radio])";
const HAVE_ENTER = `${WIDGET} :is(textarea, select, input:not([type=range])), button, summary, a[href]`;
const LETTER = /^Key([A-Z])$/; // the place of a letter on a Latin keyboard
const MODIFIERS = ["Shift", "Control", "Alt", "Meta"];

/** Listen to an event on its way down, before JupyterLab and the widgets do. */
const listen = (type, act) => window.addEventListener(type, act, true);
const isIn = (selector, { target }) => Boolean(target.closest?.(selector));
const isModified = ({ ctrlKey, altKey, metaKey }) => ctrlKey || altKey || metaKey;
const isModifier = ({ key }) => MODIFIERS.includes(key);
/** These keys open a folded answer or follow a link. */
const isForBrowser = (event) =>
  ["Enter", " "].includes(event.key) && isIn(".jp-MarkdownOutput :is(summary, a)", event);

const isPlain = (event) => !isModified(event) && (event.key.length === 1 || LETTER.test(event.code));

/** The Latin letter of a key, or else the one at its place. */
const letterOf = ({ key, code }) => (/^[ -~]$/.test(key) ? key : (LETTER.exec(code)?.[1] ?? ""));

/** The name of a key as keys.js has it; Control stands for Alt and Meta as well. */
function nameOf(event) {
  const { key, shiftKey } = event;
  const letter = letterOf(event);
  if (key === "Enter") return (shiftKey ? "Shift+" : isModified(event) ? "Control+" : "") + key;
  if (isModified(event)) return `Control+${key}`;
  if (/^\d$/.test(key)) return "Digit"; // some keyboards have digits with Shift alone
  if (/^[a-z]$/i.test(letter)) return (shiftKey ? "Shift+" : "") + letter.toUpperCase();
  return key === " " ? `${shiftKey ? "Shift+" : ""}Space` : key;
}

const stop = (event) => {
  event.preventDefault();
  event.stopImmediatePropagation();
};

/** Until the deck is ready, RISE and Reveal would take its keys: both open a speaker's window of their own. */
export function holdKeys() {
  listen("keydown", (event) => document.body.dataset.deck !== "ready" && isPlain(event) && stop(event));
}

/** `opened` has what makes modes: the help, the sorter, and the number that is being typed. */
export function listenToKeys({ notebook, keys, opened }) {
  const deck = notebook.node;
  const passOn = (event) => {
    deck.focus({ preventScroll: true });
    deck.dispatchEvent(new KeyboardEvent("keydown", event));
  };
  returnFocus(deck, passOn); // it has to see the keys first
  listen("keydown", (event) => {
    hideFromJupyterLab(event); // first, for what the deck does with the key may fail
    if (isForBrowser(event)) event.stopImmediatePropagation();
    else if (takesKey(event, { passOn, keys, opened })) stop(event);
  });
  // On its way up a widget's key stops before the document, where JupyterLab and Reveal listen.
  document.body.addEventListener("keydown", (event) => {
    if (isIn(WIDGET, event)) event.stopPropagation();
  });
}

/** Do what the deck does with the key, if anything; false where the key is for others. */
function takesKey(event, { passOn, keys, opened }) {
  if (isModifier(event)) return false;
  const name = nameOf(event);
  const actsOnce = /^(Shift\+)?[A-Z]$/.test(name) || name.endsWith("+Enter"); // however long it is held down
  const modes = modesOf(event, opened);
  const rows = modes.flatMap((mode) => keys.filter((row) => holds(row, name, mode)));
  if (event.repeat && actsOnce && rows.length) return true;
  if (rows.some(({ act }) => act(event) !== false)) return true;
  if (isPlain(event) && modes.includes("deck")) return true; // also from Reveal
  const isNowhere = event.target === document.body;
  if (isNowhere) passOn(event);
  return isNowhere;
}

const holds = ({ keys, modes, act }, name, mode) =>
  act && modes.split(" ").includes(mode) && keys.split(" ").some((key) => key === name || key === "Any");

/** The modes that hold for a key, the first of which has it first. */
function modesOf(event, { help, sorter, number }) {
  if (help.open) return ["help"];
  const focus = isIn(EDITORS, event) ? "editor" : isIn(WIDGET, event) ? "widget" : "deck";
  return [
    ...(sorter.isOpen ? ["sorter"] : []),
    ...(number.isAsked() && focus !== "editor" ? ["number"] : []),
    ...(event.key === "Enter" && isIn(HAVE_ENTER, event) ? [] : [focus]),
  ];
}

/** JupyterLab listens on the document, and would take plain keys, and those that move a widget. */
function hideFromJupyterLab(event) {
  const { target } = event;
  if (!(isIn(WIDGET, event) || isPlain(event)) || target.hasAttribute?.(HIDDEN) !== false) return;
  target.setAttribute(HIDDEN, "true");
  setTimeout(() => target.removeAttribute(HIDDEN));
}

function returnFocus(deck, passOn) {
  let isPointed = false; // the mouse, a finger or a pen was used last
  let isLeft = false; // Escape was pressed in a widget, and the focus has yet to move

  const isForControl = (event) =>
    isIn(`${WIDGET}, summary, button`, event) && !isIn(`${EDITORS}, [popover]`, event);
  const leave = () => {
    isLeft = false;
    deck.focus({ preventScroll: true });
  };

  listen("pointerdown", () => {
    isPointed = true;
  });
  listen("change", ({ target }) => isPointed && target.closest("select") && leave());
  listen("keydown", (event) => {
    if (isModifier(event)) return;
    // Seen on its way down, since a widget may keep its keys from going up. The widget has Escape first, and so
    // the focus moves when the key is let go; the next key may come before.
    if (event.key === "Escape" && isIn(WIDGET, event)) isLeft = true;
    else if ((isLeft && isIn(WIDGET, event)) || (isPointed && isForControl(event))) {
      isLeft = false;
      stop(event);
      passOn(event);
    }
    isPointed = false;
  });
  listen("keyup", ({ key }) => key === "Escape" && isLeft && leave());
}
