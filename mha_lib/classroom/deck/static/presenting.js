// The keys that Reveal's users expect and RISE turns off, and those for a pointer, a magnifier and answers.
import { Overview } from "./overview.js";
import { pointersOf } from "./pointer.js";
import { goTo, reveal, sections, shownSection } from "./stage.js";

/** Commands as those of commands.js, what Escape leaves, and the overview, which takes keys of its own. */
export function presenting({ panel, passKey, fit, words }) {
  const overview = new Overview({ panel, title: words.help.overview, passKey, fit });
  const { togglePointer, toggleMagnifier, leave } = pointersOf(panel);
  keepRendered(panel.content);
  const turnBlack = () => reveal("togglePause");
  const commands = [
    { key: "ArrowDown", name: "down", act: () => reveal("down") },
    { key: "ArrowUp", name: "up", act: () => reveal("up") },
    { key: "Home", name: "first", act: () => goTo(sections()[0]) },
    { key: "End", name: "last", act: () => goTo(sections().at(-1)) },
    { key: "O", name: "overview", act: () => overview.toggle() },
    { key: "B", name: "black", act: turnBlack },
    { key: ".", name: "black", act: turnBlack },
    { key: "A", name: "answers", act: toggleAnswers },
    { key: "L", name: "laser", act: togglePointer },
    { key: "M", name: "magnifier", act: toggleMagnifier },
  ];
  return { commands, overview, leave };
}

/** Open what is folded on the slide, or fold all of it again. */
function toggleAnswers() {
  const answers = [...shownSection().querySelectorAll("details")];
  const isFolded = answers.some((answer) => !answer.open);
  for (const answer of answers) answer.open = isFolded;
}

/** A double-click on text, or Enter, would show its Markdown in front of the class. */
function keepRendered(notebook) {
  for (const cell of notebook.widgets)
    cell.renderedChanged?.connect((_, isRendered) => {
      if (isRendered) return;
      cell.rendered = true;
      notebook.mode = "command";
    });
}
