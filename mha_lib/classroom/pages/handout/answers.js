// The browser keeps a reader's texts and opened results, under the name of this file, until they are cleared; a file
// takes them to another browser. WORDS come from the page.

const OWN = `mha-handout ${location.pathname}`;
const inputs = [...document.querySelectorAll(".ask input")];

const isOpen = ({ form }) => form.querySelector("button").ariaExpanded === "true";

/** The state of the page now: texts by the names of their lines, and the names of those that are open. */
function ownState() {
  const texts = inputs.filter(({ value }) => value).map(({ name, value }) => [name, value]);
  const open = inputs.filter(isOpen).map(({ name }) => name);
  return { texts: Object.fromEntries(texts), open };
}

/** Whether ownState() made it, and on this page: a file may hold anything, and so may the storage that pages share. */
function isOwnState(given) {
  const { texts, open } = given ?? {};
  if (!(texts instanceof Object) || !Array.isArray(open)) return false;
  const names = [...Object.keys(texts), ...open];
  const areTexts = Object.values(texts).every((text) => typeof text === "string");
  return areTexts && inputs.some(({ name }) => names.includes(name));
}

function restore({ texts, open }) {
  for (const input of inputs) {
    input.value = texts[input.name] ?? "";
    if (open.includes(input.name) && !isOpen(input))
      input.form.dispatchEvent(new Event("submit", { cancelable: true }));
  }
}

function clearAll() {
  for (const { form } of inputs) form.reset();
}

/** Keep it, and say so; or else say that this browser keeps nothing. */
function keepOwn(said) {
  said.textContent = keep(OWN, ownState()) ? WORDS.kept : WORDS.not_kept;
}

function saveFile() {
  const text = JSON.stringify(ownState(), null, 2);
  const href = URL.createObjectURL(new Blob([text], { type: "application/json" }));
  make("a", { href, download: WORDS.answers_file }).click();
}

async function readFile(file, said) {
  try {
    const state = JSON.parse(await file.text());
    if (!isOwnState(state)) throw new Error("no saved answers");
    clearAll();
    restore(state);
    keepOwn(said);
  } catch {
    said.textContent = WORDS.no_answers_file;
  }
}

if (inputs.length) {
  const said = make("output");
  const file = make("input", { type: "file", accept: ".json", hidden: true, tabIndex: -1 });
  file.addEventListener("change", () => {
    readFile(file.files[0], said);
    file.value = ""; // or else the browser is silent when the same file is chosen again
  });
  const clear = () => {
    clearAll();
    keepOwn(said);
  };
  const button = (textContent, onclick) => make("button", { type: "button", textContent, onclick });
  const buttons = [
    button(WORDS.clear_answers, clear),
    button(WORDS.save_answers, saveFile),
    button(WORDS.read_answers, () => file.click()),
  ];
  document
    .querySelector("main > footer")
    .before(make("div", { className: "ask own" }, ...buttons, file, said));
  const own = kept(OWN);
  if (isOwnState(own)) restore(own);
  keepOwn(said);
  addEventListener("input", ({ target }) => inputs.includes(target) && keepOwn(said));
  addEventListener("submit", () => keepOwn(said)); // after the line itself has answered
  addEventListener("click", ({ target }) => target.closest?.(".ask:not(.own)") && keepOwn(said));
}
