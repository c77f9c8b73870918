// The lesson as a student's copy was made from it: the copy carries it, wherever it lies (lesson/working_copy.py).

export class Original {
  constructor(model) {
    /** The cells of the lesson, as the notebook's JSON has them; empty where the notebook carries none. */
    this.cells = model.getMetadata("mha_original")?.cells ?? [];
  }

  /** The lesson's cell of this id. */
  cell(id) {
    return this.cells.find((cell) => cell.id === id);
  }

  /** Put cells of a kind that a notebook lacks back into it, each below the cell that it follows in the lesson. */
  putBack({ cells, sharedModel }, isMeant) {
    for (const [index, cell] of this.cells.entries()) {
      const ids = [...cells].map(({ id }) => id);
      if (!isMeant(cell) || ids.includes(cell.id)) continue;
      sharedModel.insertCell(ids.indexOf(this.cells[index - 1]?.id) + 1, structuredClone(cell));
    }
  }
}

export const sourceOf = (cell) => [cell.source].flat().join("");
