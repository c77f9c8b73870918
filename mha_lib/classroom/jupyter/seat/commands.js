// The student's commands: a button in the toolbar, the menus of a lesson and of a cell, JupyterLab's palette, and
// Shift+Enter.
import { fill } from "../shared/words.js";
import { openHandout } from "./address.js";
import { giveBack } from "./cell.js";

const FOLDED = "jp-MarkdownHeadingCollapsed"; // in the metadata of a heading, as lesson/working_copy.py sets it
const SET_UP = "mha-deck:set-up";
const GIVE_BACK = "mha-deck:give-cell-back";
const BRING_BACK = "mha-deck:bring-back";
const SHOW_OPTIONAL = "mha-deck:show-optional";
const HANDOUT = "mha-deck:open-handout";
const START_AFRESH = "mha-deck:start-afresh";
const WALK = "mha-deck:run-and-go-on";
// More specific than JupyterLab's own selectors for this key, and so these win.
const IN_A_LESSON = [
  ".jp-Notebook.mha-lesson.jp-mod-editMode",
  ".jp-Notebook.mha-lesson.jp-mod-commandMode:not(.jp-mod-readWrite) :focus:not(:read-write)",
];

/** Add the commands; returns a function that adds the button to the toolbar of a seat. */
export async function addCommands({ app, load, seats }) {
  const { commands, contextMenu, shell } = app;
  const { CommandToolbarButton, ICommandPalette } = await load("@jupyterlab/apputils");
  const palette = await app.resolveOptionalService(ICommandPalette);

  /** The seat of the panel that is named, or else of the one that is in front. */
  const seatOf = ({ panel = shell.currentWidget?.id }) => [...seats].find((seat) => seat.panel.id === panel);

  function add(id, { label, caption = label, act, isVisible = () => true, isEnabled = () => true }) {
    const isThere = (args) => Boolean(seatOf(args)) && isVisible(seatOf(args));
    const say = (sentence) => (args) => (seatOf(args) ? sentence(seatOf(args)) : "");
    commands.addCommand(id, {
      label: say(label),
      caption: say(caption),
      isVisible: isThere,
      isEnabled: (args) => isThere(args) && isEnabled(seatOf(args)),
      execute: (args) => act(seatOf(args)),
    });
    palette?.addItem({ command: id, category: "mha-lib" });
  }

  add(SET_UP, {
    label: ({ setup }) => setup.label,
    caption: ({ words }) => words.set_up_hint,
    act: ({ setup }) => setup.run(),
    isVisible: ({ setup }) => setup.hasCells,
    isEnabled: ({ setup }) => !setup.isRunning,
  });
  add(GIVE_BACK, { label: ({ words }) => words.give_back, act: giveBack });
  add(BRING_BACK, {
    label: ({ words }) => words.bring_back,
    act: ({ panel, original }) => original.putBack(panel.content.model, () => true),
    isVisible: ({ panel, original }) => {
      const found = original.find(panel.content.model.cells);
      return original.cells.some(({ id }) => !found.has(id));
    },
  });
  add(SHOW_OPTIONAL, {
    label: ({ words }) => words.show_optional,
    act: showFolded,
    isVisible: ({ panel }) => hasFolded(panel.content.model),
  });
  add(HANDOUT, { label: ({ words }) => words.handout, act: openHandout });
  add(START_AFRESH, { label: ({ words }) => words.fresh, act: startAfresh });
  add(WALK, { label: ({ words }) => words.walk, act: ({ walk }) => walk.step() });
  for (const selector of IN_A_LESSON)
    commands.addKeyBinding({ command: WALK, keys: ["Shift Enter"], selector });
  contextMenu.addItem({ command: GIVE_BACK, selector: ".jp-Notebook .jp-Cell", rank: 0 });

  function addButton({ panel, setup }) {
    const button = new CommandToolbarButton({ commands, id: SET_UP, args: { panel: panel.id } });
    button.addClass("mha-set-up");
    panel.toolbar.insertAfter("run", "set-up", button);
    setup.changed = (share) => {
      commands.notifyCommandChanged(SET_UP);
      button.node.style.setProperty("--share", share);
    };
  }

  /** The menu of a lesson, below the button that opens it. */
  const { Menu } = await load("@lumino/widgets");
  const menu = new Menu({ commands });
  function openMenu({ panel: { id } }, button) {
    menu.clearItems();
    for (const command of [SET_UP, GIVE_BACK, BRING_BACK, SHOW_OPTIONAL, HANDOUT, START_AFRESH])
      menu.addItem({ command, args: { panel: id } });
    const { left, bottom } = button.getBoundingClientRect();
    menu.open(left, bottom);
  }
  return { addButton, openMenu };
}

/** Whether optional parts are folded. JupyterLab opens one by a click, and where a search or an arrow leads into it. */
const hasFolded = ({ cells }) => [...cells].some((cell) => cell.getMetadata(FOLDED));

/** Show them once JupyterLab knows all headings: until the frame after that, it folds again what was opened. */
async function showFolded({ load, panel: { content: notebook } }) {
  const { NotebookActions } = await load("@jupyterlab/notebook");
  await Promise.allSettled(notebook.widgets.map((cell) => cell.getHeadings()));
  await new Promise(requestAnimationFrame);
  NotebookActions.expandAllHeadings(notebook);
}

/** Begin a fresh lesson in the place of the student's, which stays beside it under the name of a copy. */
async function startAfresh({ app, load, panel: { context }, words, original }) {
  const { Dialog, Notification, showDialog } = await load("@jupyterlab/apputils");
  if (!original.cells.length) return Notification.info(words.no_original, { autoClose: 5000 });
  const buttons = [Dialog.cancelButton(), Dialog.okButton({ label: words.fresh_begin })];
  const { button } = await showDialog({ title: words.fresh, body: words.fresh_sure, buttons });
  if (!button.accept) return;
  const { contents } = app.serviceManager;
  await context.save();
  const { name } = await contents.copy(context.path, context.path.replace(/\/?[^/]*$/, ""));
  const { metadata, ...notebook } = context.model.toJSON();
  const { widgets, ...kept } = metadata;
  const content = { ...notebook, metadata: kept, cells: original.cells };
  await contents.save(context.path, { type: "notebook", format: "json", content });
  await context.revert();
  Notification.success(fill(words.fresh_done, { name }), { autoClose: false });
}
