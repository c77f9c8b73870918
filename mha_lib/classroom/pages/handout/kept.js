// The browser keeps a reader's texts and opened results, under the name of this file, until they are cleared. WORDS
// come from the page.

const OWN = `mha-handout ${location.pathname}`;
const inputs = [...document.querySelectorAll(".ask input")];

const isOpen = ({ form }) => form.querySelector("button").ariaExpanded === "true";

/** The state of the page now: texts by the names of their lines, and the names of those that are open. */
function ownState() {
  const texts = inputs.filter(({ value }) => value).map(({ name, value }) => [name, value]);
  const open = inputs.filter(isOpen).map(({ name }) => name);
  return { texts: Object.fromEntries(texts), open };
}

function restore({ texts = {}, open = [] }) {
  for (const input of inputs) {
    input.value = texts[input.name] ?? "";
    if (open.includes(input.name) && !isOpen(input))
      input.form.dispatchEvent(new Event("submit", { cancelable: true }));
  }
}

/** Keep it, and say so; or else say that this browser keeps nothing. */
function keepOwn(said) {
  said.textContent = keep(OWN, ownState()) ? WORDS.kept : WORDS.not_kept;
}

if (inputs.length) {
  const said = make("output");
  const onclick = () => {
    for (const { form } of inputs) form.reset();
    keepOwn(said);
  };
  const button = make("button", { type: "button", textContent: WORDS.clear_answers, onclick });
  document.querySelector("main > footer").before(make("div", { className: "ask own" }, button, said));
  restore(kept(OWN));
  keepOwn(said);
  addEventListener("input", ({ target }) => inputs.includes(target) && keepOwn(said));
  addEventListener("submit", () => keepOwn(said)); // after the line itself has answered
  addEventListener("click", ({ target }) => target.closest?.(".ask:not(.own)") && keepOwn(said));
}
