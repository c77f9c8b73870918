// Who gets a key that is pressed: the deck, a widget on the slide, an editor, or the notebook with RISE.
// A key pressed inside a widget belongs to the widget: the arrows move its slider, they do not turn the slide.
// A key pressed nowhere belongs to the notebook, so that Ctrl+Enter runs a cell before any click.

const HIDDEN = "data-lm-suppress-shortcuts"; // on a node, it hides the node's keys from JupyterLab's shortcuts
/** Where one types. */
export const EDITORS =
  ".cm-editor, textarea, select, [contenteditable=true], input:not([type=range], [type=checkbox], [type=radio])";
const TURNS_SLIDES = ["ArrowLeft", "ArrowRight", "PageUp", "PageDown", " "];

const isInWidget = ({ target }) => Boolean(target.closest(".jp-OutputArea-output"));
const isInEditor = ({ target }) => Boolean(target.closest(EDITORS));
/** What opens a folded answer or follows a link. */
const isForBrowser = ({ target, key }) =>
  ["Enter", " "].includes(key) && Boolean(target.closest?.(".jp-MarkdownOutput :is(summary, a)"));
export const isBare = (event) => !(event.ctrlKey || event.altKey || event.metaKey || isInEditor(event));
const isLetter = ({ key }) => /^[a-z\d]$/i.test(key);
const nameOf = ({ key, shiftKey }) =>
  isLetter({ key }) ? `${shiftKey ? "Shift " : ""}${key.toUpperCase()}` : key;

/** `takers` come before the commands: functions that take an event, or say false. */
export function listenToKeys({ panel, help, show, commands, takers }) {
  const notebook = panel.content.node;
  const actions = new Map(commands.filter(({ act }) => act).map(({ key, act }) => [key, act]));

  window.addEventListener(
    "keydown",
    (event) => {
      if (isForBrowser(event)) event.stopImmediatePropagation();
      else if (takesKey(event, { notebook, help, show, actions, takers })) {
        event.preventDefault();
        event.stopImmediatePropagation();
      } else hideFromJupyterLab(event);
    },
    true,
  );
  // On its way up a widget's key stops before the document, where JupyterLab and Reveal listen.
  document.body.addEventListener("keydown", (event) => {
    if (isInWidget(event)) event.stopPropagation();
  });
}

/** Does what the deck does with the key, if anything; false where the key is for others. */
function takesKey(event, { notebook, help, show, actions, takers }) {
  const isHeld = event.repeat && isLetter(event); // a letter that is held down acts once
  const act = isBare(event) && !isHeld && actions.get(nameOf(event));
  if (help.isOpen) {
    if (event.key !== "Shift") help.close();
  } else if (show.overview.takesKey(event)) {
    // The overview has done what the key does there.
  } else if (takers.some((takes) => takes(event))) {
    // It has a number typed, or runs a cell.
  } else if (act && !(event.key.length > 1 && isInWidget(event))) {
    act();
  } else if (isBare(event) && isLetter(event) && !isInWidget(event)) {
    // Taken, and nothing done: JupyterLab would cut the cell, paste it or turn it into text.
  } else if (event.target === document.body || (isPage(event) && !notebook.isSameNode(event.target))) {
    notebook.focus();
    notebook.dispatchEvent(new KeyboardEvent("keydown", event));
  } else return false;
  return true;
}

/** The keys of a presenter's remote control: they turn slides wherever the focus is. */
const isPage = ({ key, ctrlKey, altKey, metaKey }) =>
  key.startsWith("Page") && !(ctrlKey || altKey || metaKey);

/** JupyterLab listens before Reveal does, and would take the keys that turn slides or move a widget. */
function hideFromJupyterLab(event) {
  const { target, key } = event;
  const isTurning = TURNS_SLIDES.includes(key) && !isInEditor(event);
  if (!(isTurning || isInWidget(event)) || target.hasAttribute(HIDDEN)) return;
  target.setAttribute(HIDDEN, "true");
  setTimeout(() => target.removeAttribute(HIDDEN));
}
