// Explorers on slides that nobody has turned to: one draws itself once it has a size. For a picture of such a
// slide it is laid out, without being seen, until they have.

const PATIENCE = 60; // frames of the screen
const isDrawn = (explorer) => Boolean(explorer.querySelector("[role=application]"));

/** True if something was drawn that had not been; `fit` gives the slide's parts their room. */
export async function drawUnseen(section, fit) {
  const explorers = [...section.querySelectorAll(".mha-explorer")].filter((one) => !isDrawn(one));
  if (!explorers.length) return false;
  const hidden = [section.parentElement, section].filter((part) => !part.matches(".present"));
  for (const part of hidden) part.classList.add("deck-unseen");
  fit.fitParts(section);
  for (let frame = 0; frame < PATIENCE && !explorers.every(isDrawn); frame += 1)
    await new Promise(requestAnimationFrame);
  for (const part of hidden) part.classList.remove("deck-unseen");
  return explorers.some(isDrawn);
}
