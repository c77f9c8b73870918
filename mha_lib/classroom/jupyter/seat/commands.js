// The student's commands: a button in the toolbar, the menus of a lesson and of a cell, JupyterLab's palette, and
// Shift+Enter.
import { openHandout } from "./address.js";
import { giveBack } from "./cell.js";
import { startAfresh } from "./fresh.js";
import { hasFolded, showFolded } from "./optional.js";

const SET_UP = "mha-deck:set-up";
const GIVE_BACK = "mha-deck:give-cell-back";
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
    for (const command of [SET_UP, GIVE_BACK, SHOW_OPTIONAL, HANDOUT, START_AFRESH])
      menu.addItem({ command, args: { panel: id } });
    const { left, bottom } = button.getBoundingClientRect();
    menu.open(left, bottom);
  }
  return { addButton, openMenu };
}
