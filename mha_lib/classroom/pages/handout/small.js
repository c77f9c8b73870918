// Small exercises that ask for a number are answered in the page. WORDS.small tells how each is judged, by its cell.

function verdictOn(text, { right, within, praise, slips }) {
  const number = Number(text.trim().replace(",", ".").replace("−", "-"));
  if (!text.trim() || Number.isNaN(number)) return WORDS.no_number;
  const is = (value) => Math.abs(number - value) <= within;
  if (right.some(is)) return `✓ ${praise}`;
  const slip = slips.find(([value]) => is(value));
  return `✗ ${slip ? slip[1] : WORDS.another_value.replace("{given}", number)}`;
}

for (const [name, exercise] of Object.entries(WORDS.small)) {
  const place = document.getElementById(name)?.querySelector(".small");
  const answer = make("input", { name, ariaLabel: WORDS.your_answer, placeholder: WORDS.your_answer });
  const line = make("form", { className: "ask", autocomplete: "off" });
  const said = make("output");
  const hint = place?.parentElement.querySelector(".hint");
  let misses = 0;
  const button = make("button", { textContent: WORDS.judge });
  line.append(answer, button, said);
  line.addEventListener("submit", (event) => {
    event.preventDefault();
    button.ariaExpanded = String(Boolean(answer.value.trim())); // whether a verdict is open
    said.textContent = verdictOn(answer.value, exercise);
    misses += said.textContent.startsWith("✗");
    if (hint) hint.hidden = misses < WORDS.misses;
  });
  line.addEventListener("reset", () => {
    button.ariaExpanded = "false";
    said.textContent = "";
  });
  place?.append(line);
}
