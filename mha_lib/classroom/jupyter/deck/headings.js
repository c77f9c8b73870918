// A notebook in which nobody has named slides is one slide. Its deck is cut at the headings with which cells begin; the
// notebook itself stays as it is. Lines of HTML, such as an anchor, and a rule may stand above a heading.
const HEADING = /^(\s*(---+|<[^\n]*>)\s*\n)*\s*(#{1,3}\s|<h[1-3]\b|[^\n]+\n(===+|---+)\s*(\n|$))/i;
const STARTS = ["slide", "subslide"];
const cut = new WeakSet();

const startsSlide = (cell) => STARTS.includes(cell.getMetadata("slideshow")?.slide_type);

/** Cut a notebook, given as its model, before RISE makes its slides. */
export function cutAtHeadings(notebook) {
  const cells = [...notebook.cells];
  if (cells.some(startsSlide)) return;
  for (const cell of cells) {
    if (cell.type !== "markdown" || !HEADING.test(cell.sharedModel.getSource())) continue;
    const stored = cell.getMetadata.bind(cell);
    cell.getMetadata = (name) => (name === "slideshow" ? { slide_type: "slide" } : stored(name));
    cut.add(notebook);
  }
}

export const isCut = (notebook) => cut.has(notebook);
