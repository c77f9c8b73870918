// The student's commands: a button in the toolbar, entries in the menu of a cell and in JupyterLab's palette.
import { compare, giveBack } from "./cell.js";
import { hasFolded, showFolded } from "./optional.js";

const SET_UP = "mha-deck:set-up";
const GIVE_BACK = "mha-deck:give-cell-back";
const COMPARE = "mha-deck:compare-cell";
export const SHOW_OPTIONAL = "mha-deck:show-optional";

/** Add the commands; returns a function that adds the button to the toolbar of a seat. */
export async function addCommands({ app, load, seats }) {
  const { commands, contextMenu, shell } = app;
  const { CommandToolbarButton, ICommandPalette } = await load("@jupyterlab/apputils");
  const palette = await app.resolveOptionalService(ICommandPalette);

  /** The seat of the panel that is named, or else of the one that is in front. */
  const seatOf = ({ panel = shell.currentWidget?.id }) => [...seats].find((seat) => seat.panel.id === panel);

  function add(id, { label, caption, act, isVisible = () => true, isEnabled = () => true }) {
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
  add(GIVE_BACK, {
    label: ({ words }) => words.give_back,
    caption: ({ words }) => words.give_back,
    act: giveBack,
  });
  add(COMPARE, { label: ({ words }) => words.compare, caption: ({ words }) => words.compare, act: compare });
  add(SHOW_OPTIONAL, {
    label: ({ words }) => words.show_optional,
    caption: ({ words }) => words.show_optional,
    act: showFolded,
    isVisible: ({ panel }) => hasFolded(panel.content.model),
  });
  for (const [rank, command] of [COMPARE, GIVE_BACK].entries())
    contextMenu.addItem({ command, selector: ".jp-Notebook .jp-Cell", rank: rank / 10 });

  function addButton({ panel, setup }) {
    const button = new CommandToolbarButton({ commands, id: SET_UP, args: { panel: panel.id } });
    button.addClass("mha-set-up");
    panel.toolbar.insertAfter("run", "set-up", button);
    setup.changed = (share) => {
      commands.notifyCommandChanged(SET_UP);
      button.node.style.setProperty("--share", share);
    };
  }
  return { addButton };
}
