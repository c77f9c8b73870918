// A worker that computes in a page. Its first message brings the interpreter, the script and the programs of
// a PageFunction; each message brings a question, and the answer goes back with it.

const moduleOf = (text) => import(URL.createObjectURL(new Blob([text], { type: "text/javascript" })));

async function begin({ interpreter, script, programs, data }) {
  const [{ load }, { default: answer }] = await Promise.all([interpreter, script].map(moduleOf));
  const loaded = Object.entries(programs).map(([name, program]) => [name, load(program)]);
  return (question) => answer(question, { programs: Object.fromEntries(loaded), data });
}

let begun;

addEventListener("message", async ({ data: { page, question } }) => {
  begun ??= begin(page);
  try {
    const answer = await begun;
    postMessage({ question, answer: answer(question) });
  } catch (error) {
    postMessage({ question, error: `${error.name}: ${error.message}` });
  }
});
