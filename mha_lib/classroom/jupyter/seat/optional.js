// The optional parts of a lesson, which a student's copy folds below their headings: lesson/working_copy.py. JupyterLab
// itself opens one by a click, and where a search or an arrow leads into it.

const FOLDED = "jp-MarkdownHeadingCollapsed"; // in the metadata of a heading

export const hasFolded = ({ cells }) => [...cells].some((cell) => cell.getMetadata(FOLDED));

export async function showFolded({ load, panel: { content: notebook } }) {
  const { NotebookActions } = await load("@jupyterlab/notebook");
  await foldingEnds(notebook);
  NotebookActions.expandAllHeadings(notebook);
}

/**
 * Keep open what a student opens while the lesson loads. JupyterLab reads the headings one by one; until it knows
 * them all, it folds again in each frame, also what was opened meanwhile.
 */
export async function keepOpened(notebook) {
  const opened = new Set();
  const note = (heading, isFolded) => isFolded || opened.add(heading);
  const folded = notebook.widgets.filter(({ headingCollapsed }) => headingCollapsed);
  for (const heading of folded) heading.headingCollapsedChanged.connect(note);
  await foldingEnds(notebook);
  for (const heading of folded) heading.headingCollapsedChanged.disconnect(note);
  for (const heading of opened) heading.headingCollapsed = false;
}

/** Wait until JupyterLab knows all headings, and has folded for the last time: in the frame after that. */
async function foldingEnds({ widgets }) {
  await Promise.allSettled(widgets.map((cell) => cell.getHeadings()));
  await new Promise(requestAnimationFrame);
}
