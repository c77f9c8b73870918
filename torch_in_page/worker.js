// A worker that computes in a page. Its first message brings the interpreter, the script and the programs of
// a PageFunction; each message brings a question, and the answer goes back with it.

// WebKit refuses a blob: address in the worker of a page from a file.
const moduleOf = (text) => import(`data:text/javascript;charset=utf-8,${encodeURIComponent(text)}`);

async function begin({ interpreter, script, programs, data }) {
  const [{ load }, { default: answer }] = await Promise.all([interpreter, script].map(moduleOf));
  const loaded = Object.entries(programs).map(([name, program]) => [name, load(program)]);
  return (question) => answer(question, { programs: Object.fromEntries(loaded), data });
}

let begun;

addEventListener("message", async ({ data: { page, question } }) => {
  begun ??= begin(page);
  const answer = await begun.catch(({ message }) =>
    postMessage({ question, error: message, cannotBegin: true }),
  );
  if (!answer) return;
  try {
    postMessage({ question, answer: answer(question) });
  } catch ({ message }) {
    postMessage({ question, error: message });
  }
});
