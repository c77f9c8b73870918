// Two things that JupyterLab does with a notebook and that do not belong into a deck.

/**
 * Take the toolbar off the notebook before it comes to the page. RISE only hides it, and there it goes on
 * computing its colours, without end: in @microsoft/fast-foundation, on which JupyterLab's buttons stand,
 * `fill-color` of the toolbar waits for `accent-fill-rest` of the panel around it, that for `accent-palette`,
 * and that, by a dependency noted for the wrong one, for `fill-color`. Each is a new object at every turn, so
 * none ever counts as unchanged; the console gets 5 to 40 RangeErrors a load (seen with RISE 0.43.1 and
 * JupyterLab 4.6.6).
 */
export async function removeToolbar(app) {
  await app.started; // then the factory of notebooks is there, and RISE has opened none yet
  const factory = app.docRegistry.getWidgetFactory("Notebook");
  factory?.widgetCreated.connect((_, panel) => {
    panel.toolbar.parent = null;
  });
}

/** Show text as it was at once: a double-click or Enter turns it to Markdown in front of the class. */
export function keepRendered(notebook) {
  for (const cell of notebook.widgets)
    cell.renderedChanged?.connect((_, isRendered) => {
      if (isRendered) return;
      cell.rendered = true;
      notebook.mode = "command";
    });
}
