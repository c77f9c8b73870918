// A fresh lesson in the place of the student's: what was there stays beside it, under the name of a copy.
import { fill } from "../shared/words.js";

export async function startAfresh({ app, load, panel: { context }, words, original }) {
  const { Dialog, Notification, showDialog } = await load("@jupyterlab/apputils");
  if (!original.cells.length) return Notification.info(words.no_original, { autoClose: 5000 });
  const buttons = [Dialog.cancelButton(), Dialog.okButton({ label: words.fresh_begin })];
  const { button } = await showDialog({ title: words.fresh, body: words.fresh_sure, buttons });
  if (!button.accept) return;
  const { contents } = app.serviceManager;
  await context.save();
  const { name } = await contents.copy(context.path, context.path.replace(/\/?[^/]*$/, ""));
  const { metadata, ...notebook } = context.model.toJSON();
  const { widgets, ...kept } = metadata;
  const content = { ...notebook, metadata: kept, cells: original.cells };
  await contents.save(context.path, { type: "notebook", format: "json", content });
  await context.revert();
  Notification.success(fill(words.fresh_done, { name }), { autoClose: false });
}
