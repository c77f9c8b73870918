// What each key of the deck does. The help lists the keys in this order; those without an action are RISE's own.

/** A list of {key, name, act}; the name finds the key's line of the help. */
export function commandsOf({ app, panel, foot, runner, speaker, help, show, words }) {
  const execute = (command) => app.commands.execute(`RISE:${command}`);
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
    { key: "S", name: "setup", act: () => runner.runSetup() },
    { key: "Shift R", name: "all", act: () => runner.runAll(() => execute("firstSlide")) },
    { key: "K", name: "revival", act: () => runner.revive() },
    { key: "I", name: "interrupt", act: () => runner.interrupt() },
    { key: "C", name: "clear", act: () => runner.clear() },
    { key: "T", name: "notes", act: openNotes },
    { key: "D", name: "dark", act: toggleDark },
    { key: "F", name: "full_screen", act: () => execute("fullscreenHelp") },
    { key: "Escape", name: "stop", act: leave },
    { key: "?", name: "keys", act: () => help.open() },
    { key: "Space", name: "next" },
    { key: "→", name: "next_slide" },
    ...show.commands,
    { key: "17 Enter", name: "go_to" },
    { key: "Shift Enter", name: "run_cell" },
  ];
}

function toggleDark() {
  const { dataset } = document.body;
  dataset.jpThemeLight ??= matchMedia("(prefers-color-scheme: light)").matches;
  dataset.jpThemeLight = dataset.jpThemeLight === "false";
}
