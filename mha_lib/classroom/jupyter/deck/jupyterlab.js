// Things that JupyterLab and RISE do with a notebook and that do not belong into a deck.
import { passKernelNames } from "../shared/jupyterlab.js";
import { fill } from "../shared/words.js";
import { cutAtHeadings } from "./headings.js";

const LINK = "rendermime:handle-local-link"; // the command that opens what a link in a text leads to

/**
 * Change how the notebook is read, and take its toolbar off before it comes to the page. RISE only hides the toolbar,
 * which there computes its colours without end: 5 to 40 RangeErrors a load in the console (RISE 0.43.1, JupyterLab
 * 4.6.6).
 */
export async function prepareNotebooks(app) {
  await app.started; // then the factory of notebooks is there, and RISE has opened none yet
  const factory = app.docRegistry.getWidgetFactory("Notebook");
  factory?.widgetCreated.connect((_, panel) => {
    panel.toolbar.parent = null;
    passKernelNames(panel.context);
    // RISE begins to wait for the notebook after this.
    panel.context.ready.then(() => {
      dropTheme(panel.model);
      cutAtHeadings(panel.model);
      preferKernel(panel);
    });
  });
}

/** Most of Reveal's themes load fonts from the network, and the deck has a look of its own. */
function dropTheme(notebook) {
  const stored = notebook.getMetadata.bind(notebook);
  notebook.getMetadata = (name) => (name === "rise" ? { ...stored(name), theme: "white" } : stored(name));
}

/** Let a notebook that names no kernel have the server's own: JupyterLab would ask for one. */
function preferKernel({ model, sessionContext }) {
  const autoStartDefault = !model.defaultKernelName && !model.defaultKernelLanguage;
  sessionContext.kernelPreference = { ...sessionContext.kernelPreference, autoStartDefault };
}

/**
 * RISE links to rise.css and <lesson>.css beside the lesson, whose styles could hide what the deck asks. The course's
 * own styles are in course.css.
 */
export function dropStyles() {
  const { head } = document;
  const insert = head.insertAdjacentHTML.bind(head);
  head.insertAdjacentHTML = (place, html) => {
    if (!/id="rise-(custom|notebook)-css"/.test(html)) insert(place, html);
  };
}

/**
 * Stop the buttons of a text that run a command of JupyterLab, such as all cells: JupyterLab's own page asks first, RISE
 * does not. Links to other files are such commands, too, and stay.
 */
export function stopCommands() {
  const stop = (event) => {
    const part = event.target.closest?.("[data-commandlinker-command]");
    if (part && part.dataset.commandlinkerCommand !== LINK) event.stopImmediatePropagation();
  };
  window.addEventListener("click", stop, true);
}

/**
 * Keep from Reveal what windows post to it: its own speaker's window posts the slide at which it was opened. The deck's
 * messages to Reveal come from no window (stage.js). This has to be called before Reveal listens.
 */
export function dropMessages() {
  window.addEventListener("message", (event) => {
    if (event.source && /"(method|namespace)":/.test(event.data)) event.stopImmediatePropagation();
  });
}

/** Show text as it was at once: a double-click or Enter turns it to Markdown in front of the class. */
export function keepRendered(notebook) {
  for (const cell of notebook.widgets)
    cell.renderedChanged?.connect((_, isRendered) => {
      if (isRendered) return;
      cell.rendered = true;
      notebook.mode = "command";
    });
}

/**
 * Answer JupyterLab's dialogs in the place of the lecturer: none comes over a slide, the foot tells what it said.
 * Where the file has changed, the deck's own copy in work/ is written over it, for that copy is made for the deck
 * alone; any other file stays as it is. The lesson on the screen is never given up for the file. All other
 * dialogs are cancelled: they would restart or choose a kernel, close or rename, or they only say that
 * something failed.
 */
export function answerDialogs(Dialog, { isOwnCopy, foot, words }) {
  Dialog.flush(); // those that came while the page was loading
  Dialog.prototype.launch = function answer() {
    const overwrite = this._buttons.find(({ actions }) => actions.includes("overwrite"));
    foot.say(overwrite ? words.file_changed : fill(words.dialog, { text: saidBy(this) }), "failed");
    this.dispose();
    const button = overwrite && isOwnCopy ? overwrite : Dialog.cancelButton();
    return Promise.resolve({ button, isChecked: null, value: null });
  };
}

/** Return the words of a dialog that is never drawn: its title and its text, or the title alone. */
function saidBy({ layout, node }) {
  const [header] = layout.widgets[0].widgets; // Lumino's, which React has not drawn yet
  return node.ariaLabel ?? [header.render().props.children].flat()[0];
}
