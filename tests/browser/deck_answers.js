// The folded answers that end below the line at the foot, or are not shown, once they are open; for decks.py.
async () => {
  await document.fonts.ready;
  const SHOWN = "details:not(.reveal-skip *)";
  const foot = document.getElementById("deck-foot").getBoundingClientRect().top;

  function turnTo(place) {
    document.querySelector(".jp-Notebook").focus();
    window.location.hash = `#/${place}`;
    window.dispatchEvent(new HashChangeEvent("hashchange", { newURL: window.location.href }));
  }

  function endOf(slide) {
    const answers = [...slide.querySelectorAll(SHOWN)];
    for (const answer of answers) answer.open = true;
    const end = Math.max(...answers.map((answer) => answer.getBoundingClientRect().bottom));
    for (const answer of answers) answer.open = false;
    return end;
  }

  const slides = [...document.querySelectorAll(".slides > section > section")];
  const faults = slides.flatMap((slide) => {
    if (!slide.querySelector(SHOWN)) return [];
    turnTo(slide.dataset.place);
    const end = endOf(slide);
    return end > 0 && end < foot ? [] : [`${slide.dataset.place} ends at ${end}`];
  });
  turnTo(slides[0].dataset.place);
  return faults;
};
