// From a Jupyter server, such as that of `make lab`, the address of a step leads to the step in the student's notebook.
const served = /^(.*)\/files\/(.*)build\/handouts\/([^/]+)\/([^/]+)\.html$/.exec(location.pathname);

for (const address of served ? document.querySelectorAll(".address") : []) {
  const [, server, course, language, lesson] = served;
  const step = address.textContent;
  const href = `${server}/lab/tree/${course}work/${language}/${lesson}.ipynb?step=${step}`;
  address.replaceChildren(Object.assign(document.createElement("a"), { href, textContent: step }));
}
