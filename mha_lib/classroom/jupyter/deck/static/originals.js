// Gives a cell back as the deck came. What somebody typed into it goes by a key, and comes back by the same key.

const KEPT = `deck-originals ${window.location.pathname}`; // in the storage of the tab, which outlives a reload

/** The text of each cell as the deck came, by its id. A reload may find the lesson changed. */
function readOriginals(notebook) {
  const [navigation] = performance.getEntriesByType("navigation");
  const kept = navigation?.type === "reload" && sessionStorage.getItem(KEPT);
  const read = () => notebook.widgets.map(({ model }) => [model.id, model.sharedModel.getSource()]);
  const originals = kept ? JSON.parse(kept) : Object.fromEntries(read());
  sessionStorage.setItem(KEPT, JSON.stringify(originals));
  return originals;
}

/** Returns a function that gives a cell its text as the deck came; called again, what was typed last. */
export function keepOriginals({ notebook, foot, words }) {
  const originals = readOriginals(notebook);
  const typed = new Map(); // by cell: {text, outputs, count}

  function showOriginal(model, text) {
    typed.set(model.id, { text, outputs: model.outputs.toJSON(), count: model.executionCount });
    model.sharedModel.setSource(originals[model.id]);
    if (model.isDirty) model.clearExecution(); // the outputs are those of what was typed
    foot.say(words.as_it_came, "done");
  }

  function showTyped(model, { text, outputs, count }) {
    model.sharedModel.setSource(text);
    model.outputs.fromJSON(outputs);
    model.executionCount = count;
    foot.say(words.as_typed, "done");
  }

  return ({ model }) => {
    if (model.executionState === "running") return foot.say(words.still_runs, "failed"); // its outputs are to come
    const text = model.sharedModel.getSource();
    originals[model.id] ??= text;
    if (text !== originals[model.id]) showOriginal(model, text);
    else if (typed.has(model.id)) showTyped(model, typed.get(model.id));
    else foot.say(words.not_changed, "done");
  };
}
