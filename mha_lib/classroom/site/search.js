// The search over all lessons of the page's language. WORDS come from the page.

const MOST_RESULTS = 12;

class Search {
  constructor(box) {
    this.input = box.querySelector("input");
    this.status = box.querySelector("[role=status]");
    this.list = box.querySelector("ol");
  }

  async start() {
    if (location.protocol === "file:") return this.say(WORDS.needs_server);
    try {
      this.pagefind = await import(new URL("../pagefind/pagefind.js", location));
      await this.pagefind.options({ baseUrl: new URL("..", location).pathname });
      await this.pagefind.init();
    } catch (error) {
      return this.say(WORDS.no_index.replace("{reason}", () => error.message));
    }
    this.say("");
    this.input.disabled = false;
    this.input.addEventListener("input", () => this.find());
    if (this.input.value) this.find(); // typed before, and kept by the browser
  }

  say(sentence) {
    this.status.textContent = sentence;
  }

  async find() {
    const words = this.input.value.trim();
    const found = await this.pagefind.debouncedSearch(withSpaces(words));
    if (!found) return; // more was typed since
    const pages = await Promise.all(found.results.slice(0, MOST_RESULTS).map((result) => result.data()));
    if (words !== this.input.value.trim()) return;
    const places = pages.flatMap((page) => page.sub_results.map((place) => ({ page, place })));
    const shown = places.slice(0, MOST_RESULTS);
    this.list.replaceChildren(...shown.map(asItem));
    const sentence = shown.length ? WORDS.found : WORDS.nothing;
    this.say(words && sentence.replace("{count}", shown.length).replace("{words}", () => words));
  }
}

/** A text in Chinese has no spaces, and the index holds its words: the browser cuts it in the same way. */
function withSpaces(text) {
  const segments = new Intl.Segmenter(document.documentElement.lang, { granularity: "word" }).segment(text);
  return [...segments].map(({ segment }) => segment).join(" ");
}

function asItem({ page, place }) {
  const item = document.createElement("li");
  const link = Object.assign(document.createElement("a"), { href: place.url, textContent: place.title });
  const excerpt = document.createElement("p");
  excerpt.innerHTML = place.excerpt; // Pagefind escapes all but its own <mark>
  item.append(link);
  if (page.meta.title !== place.title) {
    item.append(
      Object.assign(document.createElement("div"), { className: "lesson", textContent: page.meta.title }),
    );
  }
  item.append(excerpt);
  return item;
}

new Search(document.querySelector("#search")).start();
