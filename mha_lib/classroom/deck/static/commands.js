// What each key of the deck does. The help lists the keys in this order; those without an action are RISE's own.

const isSetup = (cell) => cell.model.getMetadata("tags")?.includes("setup");
const hasRun = (cell) => cell.model.executionCount !== null;
const isAny = () => true;

/** A list of {key, name, act}; the name finds the key's line of the help. */
export function commandsOf({ app, panel, foot, runner, speaker, help, show, words }) {
  const execute = (command) => app.commands.execute(`RISE:${command}`);
  const runAll = async () => {
    await runner.run(words.all, isAny, { afresh: true });
    execute("firstSlide");
  };
  const leave = () => {
    runner.stop();
    foot.clear();
    show.leave();
    panel.content.node.focus();
  };
  const openNotes = () => {
    if (!speaker.open()) foot.say(words.notes_blocked, "failed");
  };
  return [
    { key: "S", name: "setup", act: () => runner.run(words.setup, isSetup) },
    { key: "Shift R", name: "all", act: runAll },
    { key: "K", name: "revival", act: () => runner.run(words.revival, hasRun, { afresh: true }) },
    { key: "T", name: "notes", act: openNotes },
    { key: "D", name: "dark", act: toggleDark },
    { key: "F", name: "full_screen", act: () => execute("fullscreenHelp") },
    { key: "Escape", name: "stop", act: leave },
    { key: "?", name: "keys", act: () => help.open() },
    { key: "Space", name: "next" },
    { key: "→", name: "next_slide" },
    ...show.commands,
    { key: "Shift Enter", name: "run_cell" },
  ];
}

function toggleDark() {
  const { dataset } = document.body;
  dataset.jpThemeLight ??= matchMedia("(prefers-color-scheme: light)").matches;
  dataset.jpThemeLight = dataset.jpThemeLight === "false";
}
