// Saves the lesson, one save at a time. JupyterLab compares the file with what it saved last: while a save is on
// its way, a second one takes the first for a change by somebody else, and asks which of them to lose. Every save
// of the page comes through here, as JupyterLab's own call `save` of the same context: the one every two minutes,
// the one when all cells have run, and Ctrl+S.

/** Let saves of the context wait for one another. After each, `tell` is called, with the error if it failed. */
export function queueSaves(context, tell = () => {}) {
  const { model } = context;
  const save = context.save.bind(context);
  let running;
  let waiting; // one save holds all that was changed meanwhile, however often it was asked for
  let isChanged = false; // since the save that is running has read the lesson

  context.saveState.connect((_, state) => {
    if (state === "started") isChanged = false;
  });
  model.contentChanged.connect(() => {
    isChanged = true;
  });

  async function saveNow() {
    try {
      await save();
      if (isChanged) model.dirty = true; // JupyterLab takes it for saved
      tell();
    } catch (error) {
      tell(error);
      throw error;
    } finally {
      running = undefined;
    }
  }

  function saveNext() {
    waiting = undefined;
    return context.save();
  }

  context.save = () => {
    if (running) {
      waiting ??= running.then(saveNext, saveNext);
      return waiting;
    }
    running = saveNow();
    return running;
  };
}

/** Save the lesson if there is something to save and its file may be written; false if that fails: the foot says it. */
export async function save(context) {
  if (!context.contentsModel?.writable || !context.model.dirty) return true;
  return context.save().then(
    () => true,
    () => false,
  );
}
