// Sentences for bad moments, beside those that JupyterLab has: the lesson is open twice, it cannot be saved, or a
// cell still runs that another page has started. A notification shows 140 letters at most.

const AT_ONCE = 3000; // ms: a kernel that is idle answers within them

export async function watchMoments({ app: { serviceManager }, load, panel, words }) {
  const { Notification } = await load("@jupyterlab/apputils");
  const warn = (text) => Notification.warning(text, { autoClose: false });
  watchOtherTabs(panel, serviceManager, () => warn(words.open_twice));
  watchSaves(panel.context, () => warn(words.not_saved), Notification.dismiss);
  if (!(await isBusy(panel, serviceManager)) || runsOwn(panel)) return;
  const id = warn(words.busy);
  const { sessionContext } = panel;
  sessionContext.statusChanged.connect(function tell(_, status) {
    if (status !== "idle") return;
    sessionContext.statusChanged.disconnect(tell);
    Notification.update({ id, message: words.no_longer_busy });
  });
}

/**
 * Whether the kernel of this lesson is busy now, as the server knows; it answers nothing itself until it is done. On a
 * busy machine a kernel that ran a cell was not known as busy (once; the cause is not known): so its silence counts too.
 */
async function isBusy({ context, sessionContext }, { sessions }) {
  await sessions.refreshRunning();
  const own = [...sessions.running()].find(({ path }) => path === context.path);
  const state = own?.kernel?.execution_state;
  if (state !== "idle") return state === "busy";
  await sessionContext.ready;
  const isDone = () => false; // or the kernel is gone
  const answered = sessionContext.session?.kernel?.info.then(isDone, isDone);
  return Promise.race([answered, new Promise((resolve) => setTimeout(resolve, AT_ONCE, true))]);
}

/** Whether a cell runs that this page has started: then that one is why the kernel is busy. */
const runsOwn = ({ content: { widgets } }) => widgets.some(({ model }) => model.executionState === "running");

/** JupyterLab says why a save has failed; this says what becomes of the answers, until a save succeeds. */
function watchSaves({ saveState }, warn, dismiss) {
  let id;
  saveState.connect((_, state) => {
    if (state === "failed") id ??= warn();
    else if (id && state.startsWith("completed")) {
      dismiss(id);
      id = undefined;
    }
  });
}

/** Call `warn` in this tab and in the others of this browser in which the lesson is open. */
function watchOtherTabs({ context, disposed }, { serverSettings }, warn) {
  const channel = new BroadcastChannel(`mha-deck ${serverSettings.baseUrl}${context.path}`);
  channel.addEventListener("message", ({ data }) => {
    if (data === "opened") channel.postMessage("is open here");
    warn();
  });
  channel.postMessage("opened");
  disposed.connect(() => channel.close());
}
