// What an instructor needs in a deck: keys that run cells, a line at the foot, a window with the notes.
// The looks are in rise.css, beside the lessons.
import { openSpeaker, showNotes } from "./speaker.js";

const addStyle = (href) =>
  document.head.append(Object.assign(document.createElement("link"), { rel: "stylesheet", href }));

export default function deck(app, load) {
  addStyle(new URL("deck.css", import.meta.url));
  const panel = () => app.shell.currentWidget;
  const focusDeck = () => panel().content.node.focus();
  const slides = () => [...document.querySelectorAll(".slides > section > section")];
  const current = () => slides().find((slide) => slide.matches(".present > .present"));
  const numberOf = (node) => slides().findIndex((slide) => slide.contains(node)) + 1;

  let status, position, help;
  const say = (text, state, share = 1) => {
    Object.assign(status, { textContent: text, className: state }); // busy, done or failed
    status.style.setProperty("--share", share);
  };
  const sayDead = () => say("The kernel has died. K brings the deck back.", "failed");
  const arrive = () => {
    position.textContent = `${numberOf(current())} / ${slides().length}`;
    showNotes(slides(), current());
  };
  document.addEventListener("slidechanged", arrive);
  document.addEventListener("ready", () => {
    const beside = panel().context.path.replace(/[^/]*$/, "course.css");
    app.serviceManager.contents.getDownloadUrl(beside).then(addStyle);
    const foot = "<b></b><output></output><b></b>";
    const parts = `<footer id="deck-foot">${foot}</footer><dialog id="deck-help"></dialog>`;
    panel().node.insertAdjacentHTML("beforeend", parts);
    let lesson;
    [lesson, status, position, help] = panel().node.querySelectorAll("#deck-foot > *, #deck-help");
    lesson.textContent = panel().content.model.getMetadata("title") ?? "";
    const line = ([key, [text]]) => `<kbd>${key}</kbd> <span>${text}</span>`;
    help.innerHTML = Object.entries(keys).map(line).join("");
    const died = (_, now) => /^(autorestarting|dead)$/.test(now) && sayDead();
    panel().sessionContext.statusChanged.connect(died);
    say("? shows the keys", "done");
    arrive();
  });

  // Run cells in order, past those that fail, without moving the deck.
  let running = false;
  async function run(what, wanted, afresh = false) {
    if (running) return;
    running = true;
    const { sessionContext, content } = panel();
    const cells = content.widgets.filter((cell) => cell.model.type === "code" && wanted(cell));
    const failures = [];
    try {
      await sessionContext.ready;
      if (afresh) {
        say("Starting a fresh kernel", "busy", 0);
        (await load("@jupyterlab/apputils")).Dialog.flush(); // such as "The kernel appears to have died"
        // A new kernel, for a restart fails while the server is at restarting a dead one by itself.
        await sessionContext.changeKernel({ name: sessionContext.session.kernel.name });
      }
      const { CodeCell } = await load("@jupyterlab/cells");
      for (const [done, cell] of cells.entries()) {
        const where = `slide ${numberOf(cell.node)} (${cell.model.id})`;
        say(`${what}: cell ${done + 1} of ${cells.length}, ${where}`, "busy", done / cells.length);
        const reply = (await CodeCell.execute(cell, sessionContext))?.content;
        if (!running) return say(`${what}: stopped at ${where}`, "failed");
        if (reply?.status === "error") failures.push(`${where}: ${reply.ename}: ${reply.evalue}`);
      }
      const summary = `${what}: ${cells.length - failures.length} of ${cells.length} cells ran`;
      say([summary, ...failures].join("\n"), failures.length ? "failed" : "done");
    } catch {
      sayDead(); // under a running cell
    } finally {
      running = false;
    }
  }

  const isSetup = (cell) => cell.model.getMetadata("tags")?.includes("setup");
  const hasRun = (cell) => cell.model.executionCount !== null;
  const runAll = () => run("All", () => true, true).then(() => app.commands.execute("RISE:firstSlide"));
  const leave = () => {
    if (running) panel().sessionContext.session.kernel.interrupt();
    running = false;
    say("", "");
    focusDeck();
  };
  const openNotes = () => {
    const passKey = (event) => panel().content.node.dispatchEvent(new KeyboardEvent("keydown", event));
    if (!openSpeaker(passKey)) say("The browser blocks the notes: allow pop-ups for this page.", "failed");
    showNotes(slides(), current());
  };
  const toggleDark = ({ dataset } = document.body) => {
    dataset.jpThemeLight ??= matchMedia("(prefers-color-scheme: light)").matches;
    dataset.jpThemeLight = dataset.jpThemeLight === "false";
  };
  const keys = {
    S: ["run the setup cells: imports, data, training", () => run("Setup", isSetup)],
    "Shift R": ["restart, run everything, go to the first slide", runAll],
    K: ["revive the kernel, run again what had run, stay here", () => run("Revival", hasRun, true)],
    T: ["speaker notes, in a window of their own", openNotes],
    D: ["dark or light", toggleDark],
    W: ["overview", () => app.commands.execute("RISE:toggleOverview")],
    F: ["full screen", () => app.commands.execute("RISE:fullscreenHelp")],
    Escape: ["stop what runs, clear this line, leave a widget", leave],
    "?": ["these keys", () => help.showModal()],
    Space: ["next (with Shift: back)"], // this and the rest are RISE's own
    "→": ["next, past the optional slides"],
    "Shift Enter": ["run the cell and go on (with Ctrl: stay)"],
  };

  // Keys pressed inside a widget belong to the widget: the arrows move its slider, not the slide.
  // Keys pressed nowhere belong to the notebook, so that Ctrl+Enter runs a cell before any click.
  const suppress = "data-lm-suppress-shortcuts"; // hides a key from JupyterLab, which listens before Reveal
  const inWidget = ({ target }) => target.closest(".jp-OutputArea-output");
  function goingDown(event) {
    const { target, key } = event;
    const typing = target.closest(".cm-editor, textarea, select, input:not([type=range], [type=checkbox])");
    const bare = !(event.ctrlKey || event.altKey || event.metaKey || typing);
    const letter = /^[a-z\d]$/i.test(key);
    const command = bare && keys[letter ? (event.shiftKey ? "Shift " : "") + key.toUpperCase() : key];
    if (help?.open && key !== "Shift") help.close();
    else if (command && !(key === "Escape" && inWidget(event))) command[1]();
    else if (bare && letter && !inWidget(event)); // JupyterLab would cut, paste or convert the cell
    else if (target === document.body || (bare && inWidget(event) && /^Page/.test(key))) {
      focusDeck();
      panel().content.node.dispatchEvent(new KeyboardEvent("keydown", event));
    } else {
      const turning = !typing && /^(ArrowLeft|ArrowRight|PageUp|PageDown| )$/.test(key);
      if ((turning || inWidget(event)) && !target.hasAttribute(suppress)) {
        target.setAttribute(suppress, "true");
        setTimeout(() => target.removeAttribute(suppress));
      }
      return;
    }
    event.preventDefault();
    event.stopImmediatePropagation();
  }
  function goingUp(event) {
    if (!inWidget(event)) return;
    event.stopImmediatePropagation();
    if (event.key === "Escape") focusDeck();
  }
  window.addEventListener("keydown", goingDown, true);
  document.addEventListener("keydown", goingUp);
}
