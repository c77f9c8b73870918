// The grammar of a lesson: how cells make slides, which notes belong to a slide, and how many minutes it takes.
// lesson/slides.py explains it, and the tags by which guess.js knows the outputs of cells. Both files are tested
// on one table of cases, tests/classroom/lesson/slides.json.

const STARTS = ["slide", "subslide"];
const MINUTES =
  /^\s*(?:(?<optional>[\p{L}\p{Nl}\p{No}_]+)[,，、:：]\s*)?(?<minutes>[0-9０-９]+(?:\.[0-9０-９]+)?)\s*[^\s0-9.。．]+\s*(?:[.。．\n]|$)/u;
const HEADING = /^#+ +(.+?) *#*$/m;

const slideType = (cell) => cell.metadata.slideshow?.slide_type || "-";

class Slide {
  cells = []; // those that the slide shows
  notes = [];

  constructor(starts = "slide") {
    this.starts = starts; // or "subslide", which lies below a slide
  }

  /** The first heading, as Markdown; without one, the first line. */
  get title() {
    const texts = this.cells.filter((cell) => cell.cell_type === "markdown").map(({ source }) => source);
    const heading = texts.map((text) => HEADING.exec(text)?.[1]).find(Boolean);
    const lines = this.cells.flatMap((cell) => cell.source.split(/\r\n?|\n/));
    const firstLine = lines.map((line) => line.trim()).find(Boolean);
    return heading ?? (firstLine ? `\`${firstLine}\`` : "");
  }

  get minutes() {
    return this.#times.reduce((sum, time) => sum + Number(time.minutes.normalize("NFKC")), 0);
  }

  get isOptional() {
    return this.#times.some((time) => time.optional);
  }

  get #times() {
    return this.notes.map((note) => MINUTES.exec(note)?.groups).filter(Boolean);
  }
}

/**
 * The slides of cells as the notebook's JSON has them, cut as RISE does: the first cell begins a slide, whatever
 * its type says.
 */
export function readSlides(cells) {
  const slides = [new Slide()];
  for (const cell of cells) {
    const kind = slideType(cell);
    if (STARTS.includes(kind) && slides.at(-1).cells.length) slides.push(new Slide(kind));
    if (kind === "notes") slides.at(-1).notes.push(cell.source);
    else if (kind !== "skip") slides.at(-1).cells.push(cell);
  }
  return slides.filter((slide) => slide.cells.length || slide.notes.length);
}

export const coreMinutes = (slides) =>
  slides.reduce((sum, slide) => sum + (slide.isOptional ? 0 : slide.minutes), 0);
