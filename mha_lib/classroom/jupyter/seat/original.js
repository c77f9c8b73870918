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

  /** Whether a cell's source is another one than in the lesson. */
  isChanged({ id, sharedModel }) {
    const cell = this.cell(id);
    return Boolean(cell) && sourceOf(cell) !== sharedModel.getSource();
  }

  /**
   * The models of a notebook's cells, by their ids in the lesson. Some programs write a notebook without ids: where all
   * are lost, the sources tell, and of a cell that was changed its place after the one before it.
   */
  find(cells) {
    const models = [...cells];
    const found = new Map(models.map((model) => [model.id, model]));
    if (this.cells.some(({ id }) => found.has(id))) return found;
    found.clear();
    const taken = new Set();
    const take = (cell, model) => {
      if (!model || found.has(cell.id) || taken.has(model) || model.type !== cell.cell_type) return;
      taken.add(model);
      found.set(cell.id, model);
    };
    for (const cell of this.cells)
      take(
        cell,
        models.find((model) => !taken.has(model) && model.sharedModel.getSource() === sourceOf(cell)),
      );
    for (const [index, cell] of this.cells.entries())
      take(cell, models[models.indexOf(found.get(this.cells[index - 1]?.id)) + 1]);
    return found;
  }

  /** Put cells of a kind that a notebook lacks back into it, each below the cells that it follows in the lesson. */
  putBack({ cells, sharedModel }, isMeant) {
    const found = this.find(cells);
    for (const [index, cell] of this.cells.entries()) {
      if (!isMeant(cell) || found.has(cell.id)) continue;
      const before = this.cells.slice(0, index).findLast(({ id }) => found.has(id));
      const place = [...cells].indexOf(found.get(before?.id)) + 1;
      sharedModel.insertCell(place, structuredClone(cell));
      found.set(cell.id, cells.get(place));
    }
  }
}

export const sourceOf = (cell) => [cell.source].flat().join("");
