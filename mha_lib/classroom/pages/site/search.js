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
    const found = await this.searchFor(words);
    if (!found) return; // more was typed since
    const pages = await Promise.all(found.results.map((result) => result.data()));
    if (words !== this.input.value.trim()) return;
    const places = pages.flatMap((page) => page.sub_results.map((place) => ({ page, place })));
    places.sort((one, other) => weightOf(other) - weightOf(one));
    const shown = places.slice(0, MOST_RESULTS);
    this.list.replaceChildren(...shown.map(asItem));
    const more = places.length > shown.length ? WORDS.found_more : WORDS.found;
    const sentence = places.length ? more : WORDS.nothing;
    const counted = sentence.replace("{count}", places.length).replace("{shown}", shown.length);
    this.say(words && counted.replace("{words}", () => words));
  }

  async searchFor(words) {
    const [first, ...others] = readingsOf(words);
    let found = await this.pagefind.debouncedSearch(first);
    for (const reading of others) {
      // A title alone may have a word that no place on its page has.
      if (!found || found.results.some((result) => result.words.length)) break;
      found = await this.pagefind.search(reading);
    }
    return found;
  }
}

/** Chinese has no spaces, and the index holds its words. The browser may cut a text into other words than
 * Pagefind did: so also as it stands (the beginning of a longer word), and letter by letter. */
function readingsOf(text) {
  const segmenter = new Intl.Segmenter(document.documentElement.lang, { granularity: "word" });
  const wordsOf = (chinese) => [...segmenter.segment(chinese)].map(({ segment }) => segment);
  const cut = (pieces) => text.replace(/\p{Script=Han}+/gu, (chinese) => ` ${pieces(chinese).join(" ")} `);
  return [...new Set([cut(wordsOf), text, cut((chinese) => [...chinese])])];
}

/** How much a place has of what was asked for; Pagefind counts words in headings for more. */
function weightOf({ place }) {
  return place.weighted_locations.reduce((sum, { balanced_score }) => sum + balanced_score, 0);
}

function asItem({ page, place }) {
  const item = document.createElement("li");
  const add = (tag, content) => item.appendChild(Object.assign(document.createElement(tag), content));
  add("a", { href: place.url, textContent: place.title });
  if (page.meta.title !== place.title) add("div", { className: "note", textContent: page.meta.title });
  add("p", { innerHTML: place.excerpt }); // Pagefind escapes all but its own <mark>
  return item;
}

new Search(document.querySelector("#search")).start();
