// The optional parts of a lesson, which a student's copy folds below their headings: lesson/working_copy.py. JupyterLab
// itself opens one by a click, and where a search or an arrow leads into it.

const FOLDED = "jp-MarkdownHeadingCollapsed"; // in the metadata of a heading

export const hasFolded = ({ cells }) => [...cells].some((cell) => cell.getMetadata(FOLDED));

/** Show them once JupyterLab knows all headings: until the frame after that, it folds again what was opened. */
export async function showFolded({ load, panel: { content: notebook } }) {
  const { NotebookActions } = await load("@jupyterlab/notebook");
  await Promise.allSettled(notebook.widgets.map((cell) => cell.getHeadings()));
  await new Promise(requestAnimationFrame);
  NotebookActions.expandAllHeadings(notebook);
}
