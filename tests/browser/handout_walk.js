// Walks a handout as a reader might, in any engine: guess() answers all questions, begin() moves each explorer to
// both ends of each of its controls and through its keys, and all figures and folds. `walked` is then what went wrong.
// test_walks.py lays this script into the page's head.
window.faults = [];
// A browser says so where an observer's change of size is seen a frame later: nothing is lost by it. WebKit names
// neither the error nor a line; errors of scripts have one there.
const isLate = ({ message, lineno, error }) =>
  message.startsWith("ResizeObserver loop") || (message === "Script error." && !lineno && !error);
addEventListener("error", (event) => isLate(event) || faults.push(event.message));
addEventListener("unhandledrejection", ({ reason }) => faults.push(String(reason)));
addEventListener("securitypolicyviolation", ({ blockedURI }) => faults.push(`blocked: ${blockedURI}`));
console.error = (...said) => faults.push(said.join(" "));

const LONGEST = 3000; // frames in which a picture must be there
const all = (selector, root = document) => [...root.querySelectorAll(selector)];
const frame = () => new Promise(requestAnimationFrame);

async function rest(root, doing) {
  let frames = 0;
  do await frame();
  while (root.querySelector("[aria-busy=true]") && ++frames < LONGEST);
  if (frames === LONGEST) faults.push(`no picture: ${doing}`);
}

const nowIn = (input) => (input.type === "checkbox" ? input.checked : input.value);
function endsOf(input) {
  if (input.type === "checkbox") return [true, false];
  return input.type === "range" ? [input.min || 0, input.max] : [0, input.options.length - 1];
}
function set(input, value) {
  input[input.type === "checkbox" ? "checked" : "value"] = value;
  for (const type of ["input", "change"]) input.dispatchEvent(new Event(type, { bubbles: true }));
}

/** How many colours a canvas has: one that was not painted has one. */
function coloursOf(canvas) {
  const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  return new Set(new Uint32Array(data.buffer)).size;
}

/** Whether the view that is shown has been drawn: the arcs, or a map of several colours. */
function isDrawn(root) {
  const arcs = root.querySelector(".arcs");
  return arcs.hidden
    ? coloursOf(root.querySelector("canvas")) >= 10
    : Boolean(arcs.querySelector("[data-key]"));
}

async function walkExplorer(root) {
  for (const input of all(".settings :is([type=range], [type=checkbox], select)", root))
    for (const value of [...endsOf(input), nowIn(input)]) {
      const doing = `${input.ariaLabel} at ${value}`;
      set(input, value);
      await rest(root, doing);
      if (!root.querySelector("[role=alert]").hidden) faults.push(`an error: ${doing}`);
      if (!isDrawn(root)) faults.push(`not drawn: ${doing}`);
    }
  if (!root.querySelector(".arcs").hidden) {
    root.querySelector("button.view").click();
    await rest(root, "the map");
    if (!isDrawn(root)) faults.push("not drawn: the map");
  }
  const status = root.querySelector("[role=status]");
  const press = (key) => {
    document.activeElement.dispatchEvent(
      new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }),
    );
    return status.textContent;
  };
  root.querySelector(".map [role=group] > *").focus();
  const said = ["ArrowDown", "ArrowDown", "ArrowRight", "ArrowRight"].map(press);
  if (!said.every(Boolean) || new Set(said).size < 2) faults.push(`keys say: ${said}`);
  for (const key of ["Enter", "Escape"]) press(key);
}

async function walkTokens(root) {
  await rest(root, "a text");
  const buttons = all(".text button", root);
  for (const button of [buttons.at(0), buttons.at(-1)]) button.click();
  if (root.querySelector("table").hidden || !root.querySelector("[role=alert]").hidden)
    faults.push(`no shares: ${root.querySelector("[role=status]").textContent}`);
}

window.guess = () => {
  for (const form of all("form.ask")) {
    form.querySelector("input").value = "1";
    form.dispatchEvent(new Event("submit", { bubbles: true, cancelable: true }));
  }
};

async function walk() {
  for (const root of all(".mha-explorer"))
    await (root.matches(".mha-who-said") ? walkTokens(root) : walkExplorer(root));
  for (const result of all(":is(.cell, .outputs, .code).result"))
    if (!result.offsetHeight) faults.push(`hidden: ${result.textContent}`);
  for (const said of all(".small output"))
    if (!said.textContent) faults.push("a small exercise says nothing");
  for (const input of all(".figure-steps, .reading input"))
    for (const value of [...endsOf(input), nowIn(input)]) set(input, value);
  for (const fold of all("details")) fold.open = true;
  for (const { name } of performance.getEntriesByType("resource"))
    if (!/^(data|blob):/.test(name)) faults.push(`asked for: ${name}`);
  for (const image of all("img")) await image.decode().catch(() => faults.push(`no picture: ${image.alt}`));
}

window.begin = () =>
  walk()
    .catch(String)
    .then((error) => (window.walked = [...faults, ...(error ? [error] : [])]));
