// The widget of who_said.py: a worker takes one step of the model for each token of the text, and the page shows
// the text, the shares of all parts in the chosen token, and where a head has looked for it. Where the model is too
// large for a page, as in who_said_large.py, Python gives an account of the whole text in place of the worker.
import { fill, make } from "../explorer/view/elements.js";
import { hideOwnKeys, isOwnKey, leave } from "../explorer/view/own_keys.js";

const HOTTEST = 1.5;
const UNSEEN = 2; // rows before the first token, as in who_said.py
const NAMED = 3; // of a head's weights, those that are written
const SUCH_AS = 6; // tokens that an unknown word is answered with
const MOVES = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -1, ArrowDown: 1, Home: -Infinity, End: Infinity };

const number = (x, digits = 2) => (x.toFixed(digits) * 1 || 0).toFixed(digits).replace("-", "−"); // no −0.00
const largest = (numbers) => numbers.indexOf(Math.max(...numbers));
const rowOfMost = (rows) => rows[largest(rows.map(({ shares }) => shares[0]))];

/** A text that the model can't read, with the sentence that says why. */
class NotRead extends Error {}

/** The tokens of a text. */
function read(text, { vocabulary, spaced, most, words }) {
  const places = new Map(vocabulary.map((name, token) => [name, token]));
  const find = (name) => places.get(name) ?? places.get(name.toLowerCase());
  const refuse = (word) => {
    const near = vocabulary.filter((name) => name[0] === word[0].toLowerCase());
    const some = new Set([...near, ...vocabulary.filter((name) => /\p{L}/u.test(name))]);
    const such = [...some].slice(0, SUCH_AS).join(words.between);
    const gaps = { word, count: vocabulary.length, some: such };
    throw new NotRead(fill(words.unknown, gaps));
  };
  const inWord = (word) => {
    const whole = find(word);
    if (whole !== undefined) return [whole];
    const marked = word.match(/[\p{L}\p{M}\p{N}]+|[^\p{L}\p{M}\p{N}]/gu); // a full stop may touch its word
    return marked.map((part) => find(part) ?? refuse(part));
  };
  const typed = text.normalize("NFC").trim();
  if (!typed) throw new NotRead(words.nothing);
  const cut = () => cutByLongest(typed.replace(/\s/gu, ""), find, vocabulary, refuse);
  const tokens = spaced ? typed.split(/\s+/u).flatMap(inWord) : cut();
  if (tokens.length > most) throw new NotRead(fill(words.too_long, { count: tokens.length, most }));
  return tokens;
}

function cutByLongest(text, find, vocabulary, refuse) {
  const longest = Math.max(...vocabulary.map((name) => name.length));
  const tokens = [];
  for (let at = 0; at < text.length; ) {
    let size = longest;
    while (size && find(text.slice(at, at + size)) === undefined) size -= 1;
    if (!size) refuse(String.fromCodePoint(text.codePointAt(at)));
    tokens.push(find(text.slice(at, at + size)));
    at += Math.min(size, text.length - at);
  }
  return tokens;
}

/** Random numbers from 0 to 1, the same for the same seed. */
function randomFrom(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

function draw(logits, temperature, random) {
  if (!temperature) return largest(logits);
  const top = Math.max(...logits);
  const chances = [...logits].map((logit) => Math.exp((logit - top) / temperature));
  let left = random() * chances.reduce((sum, chance) => sum + chance, 0);
  for (const [token, chance] of chances.entries()) {
    left -= chance;
    if (left < 0) return token;
  }
  return largest(logits); // where roundings leave something
}

/** A worker for the steps of the model; `step(token, rows)` gives what follows the token and all before it. */
function startWorker(page, words) {
  const source = new Blob([page.worker], { type: "text/javascript" });
  const worker = new Worker(URL.createObjectURL(source));
  const waiting = [];
  let isNew = true;
  worker.onmessage = ({ data }) => {
    const { resolve, reject } = waiting.shift();
    if (data.error) reject(new Error(data.cannotBegin ? words.cannot_compute : data.error));
    else resolve(data.answer);
  };
  worker.onerror = ({ message }) => {
    for (const { reject } of waiting.splice(0)) reject(new Error(message ?? ""));
  };
  const ask = (question) =>
    new Promise((resolve, reject) => {
      waiting.push({ resolve, reject });
      worker.postMessage(isNew ? { page, question } : { question });
      isNew = false;
    });
  const step = (token, rows) => {
    const length = UNSEEN + rows.length + 1;
    const data = new Float32Array(length * page.width);
    for (const [at, row] of rows.entries()) data.set(row, (UNSEEN + at) * page.width);
    return ask({
      token: { shape: [1, 1], data: [token] },
      past: { shape: [1, length, page.width], data },
    });
  };
  return { step, stop: () => worker.terminate() };
}

class WhoSaidView {
  constructor(model) {
    for (const name of ["words", "page", "vocabulary", "spaced", "most"]) this[name] = model.get(name);
    this.parts = this.page.parts;
    this.head = this.parts.find(({ head }) => head && String(head) === String(model.get("head")));
    this.model = model;
    this.account = model.get("account"); // Python's, of the first text
    this.isLarge = "names" in this.account; // Python computes
    this.tokens = []; // of the text
    this.steps = []; // for each token what the model has computed from it
    this.chosen = -1; // the place of a token
    this.seed = 1;
    this.run = 0; // the number of the text that is being written
    if (!this.isLarge) this.worker = startWorker(this.page, this.words);
    this.makeElements(model);
    this.answerKeys();
  }

  makeElements(model) {
    const { words } = this;
    const temperature = model.get("temperature");
    this.input = make("input", { type: "text", value: model.get("start"), spellcheck: false });
    this.slider = make("input", { type: "range", max: HOTTEST, step: 0.1, ariaLabel: words.temperature });
    this.slider.value = temperature;
    this.slider.ariaDescription = this.slider.title = words.temperature_means;
    this.value = make("span", { className: "value" });
    this.writeButton = make("button", { textContent: words.write, onclick: () => this.write(1) });
    this.againButton = make("button", { textContent: words.again, onclick: () => this.write(this.seed + 1) });
    this.slider.oninput = () => this.showTemperature();
    const settings = make(
      "div",
      { className: "settings" },
      make("label", { className: "beginning" }, words.text, this.input),
      make("label", {}, words.temperature, this.slider, this.value),
      this.writeButton,
      this.againButton,
    );
    this.problem = make("p", { role: "alert", hidden: true });
    this.text = make("div", { className: "text", role: "application", ariaLabel: words.tokens });
    this.body = make("tbody");
    this.saidTitle = make("th", { scope: "col" });
    this.rivalTitle = make("th", { scope: "col" });
    const titles = make("thead", {}, make("tr", {}, make("td"), this.saidTitle, this.rivalTitle));
    this.table = make("table", {}, titles, this.body);
    this.told = make("p", { role: "status" });
    const answer = make("div", { className: "answer" }, this.table, this.told);
    const className = "mha-explorer mha-who-said";
    this.choice = make("select", { onchange: () => this.takeKept(this.choice.value) });
    const kept = Object.keys(model.get("kept"));
    for (const text of kept) this.choice.append(make("option", { textContent: text }));
    this.choice.value = model.get("start");
    const choice = make("label", { className: "kept", hidden: !kept.length }, words.kept, this.choice);
    settings.hidden = model.get("alone") && this.isLarge; // then nobody can write
    const alone = make("p", { className: "alone", hidden: !settings.hidden, textContent: words.alone });
    this.root = make("div", { className }, choice, settings, alone, this.problem, this.text, answer);
    this.showTemperature();
  }

  open(element) {
    const ending = new AbortController();
    hideOwnKeys(this.root, ending.signal);
    element.append(this.root);
    const hear = ({ run, account }) => run === this.run && this.take(account);
    if (this.isLarge) {
      this.model.on("msg:custom", hear);
      this.take(this.account);
    } else this.write(this.seed);
    return () => {
      ending.abort();
      this.run += 1;
      this.worker?.stop();
      this.model.off("msg:custom", hear);
      this.root.remove();
    };
  }

  showTemperature() {
    this.value.textContent = number(this.slider.valueAsNumber, 1);
    this.slider.ariaValueText = this.value.textContent;
    this.againButton.disabled = !this.slider.valueAsNumber;
  }

  // -- writing

  /** Read the beginning and go on with it; another seed draws other tokens. */
  async write(seed) {
    let tokens;
    this.problem.hidden = true;
    if (this.isLarge) {
      this.askPython(seed);
      return;
    }
    try {
      tokens = read(this.input.value, this);
    } catch (error) {
      if (!(error instanceof NotRead)) throw error;
      this.complain(error.message);
      return;
    }
    this.reserve(tokens);
    const run = ++this.run;
    Object.assign(this, { seed, tokens: [], steps: [], chosen: -1 });
    this.typed = tokens.length;
    this.text.replaceChildren();
    this.text.ariaBusy = "true";
    this.told.textContent = fill(this.words.writing, { most: this.most });
    try {
      await this.goOn(tokens, run);
    } catch (error) {
      if (run === this.run) this.complain(fill(this.words.failed, { error: error.message }));
    }
    if (run === this.run) this.text.ariaBusy = "false";
  }

  askPython(seed) {
    this.seed = seed;
    this.choice.value = this.input.value; // none, where this is no kept text
    this.run += 1;
    this.text.ariaBusy = "true";
    this.told.textContent = fill(this.words.writing, { most: this.most });
    this.model.send({
      run: this.run,
      text: this.input.value,
      temperature: this.slider.valueAsNumber,
      seed,
    });
  }

  takeKept(text) {
    this.run += 1; // an answer that Python still owes is not shown
    this.input.value = text;
    this.problem.hidden = true;
    this.take(this.model.get("kept")[text]);
  }

  /** Show Python's account of a text. Its tokens are counted: each is the place of its name. */
  take(account) {
    this.text.ariaBusy = "false";
    if (account.problem) {
      this.told.textContent = "";
      this.complain(account.problem);
      return;
    }
    const { names, typed, steps } = account;
    const others = { name: fill(this.words.others, { count: this.parts.length - steps[0].rows.length + 1 }) };
    const rowOf = ({ part, shares, weights }) => ({ part: this.parts[part] ?? others, shares, weights });
    Object.assign(this, { vocabulary: names, typed, tokens: [] });
    this.steps = steps.map(({ rival, logits, rows }, at) => {
      return { token: at + 1, rival, logits, rows: rows.map(rowOf) };
    });
    this.text.replaceChildren();
    for (let token = 0; token <= steps.length; token += 1) this.addToken(token);
    this.choose(Math.min(typed, steps.length));
  }

  /** Take the height that the whole text, with tokens such as the typed ones, and the table will have. */
  reserve(typed) {
    const { text, most } = this;
    const rows = this.parts.map((part) => ({ part, shares: [0, 0] }));
    this.showTable({ token: 0, rival: 1, logits: [0, 0], rows });
    this.table.style.visibility = "hidden";
    text.style.minHeight = "";
    text.replaceChildren();
    for (let place = 0; place < most; place += 1) this.addToken(typed[place % typed.length]);
    const em = Number.parseFloat(getComputedStyle(text).fontSize);
    text.style.minHeight = `${text.offsetHeight / em}em`;
  }

  async goOn(typed, run) {
    const { most } = this;
    const random = randomFrom(this.seed);
    const temperature = this.slider.valueAsNumber;
    const rows = [];
    while (this.tokens.length < most) {
      const last = this.steps.at(-1);
      const token = typed[this.tokens.length] ?? draw(last.logits, temperature, random);
      this.addToken(token);
      if (this.tokens.length === most) break; // nothing follows the last token
      const found = await this.worker.step(token, rows);
      if (run !== this.run) return;
      rows.push(found.row.data);
      this.steps.push(this.stepOf(found));
    }
    this.choose(Math.min(this.typed, this.tokens.length - 1));
  }

  /** Keep of a step the logits, the shares by part and the weights by part; only heads have weights. */
  stepOf(found) {
    const count = found.logits.data.length;
    const shares = this.parts.map((_, at) => found.shares.data.subarray(at * count, (at + 1) * count));
    const weights = this.parts.map(({ head }) => {
      if (!head) return null;
      const { shape, data } = found[`weights.${head[0]}`];
      const length = shape.at(-1);
      return data.subarray(head[1] * length + UNSEEN, (head[1] + 1) * length);
    });
    return { logits: found.logits.data, shares, weights };
  }

  addToken(token) {
    const place = this.tokens.push(token) - 1;
    const name = make("span", { textContent: this.nameOf(token) });
    const button = make("button", { tabIndex: place ? -1 : 0, ariaPressed: "false" }, name);
    button.onclick = () => this.choose(place);
    button.classList.toggle("typed", place < this.typed);
    const isApart = this.isLarge ? /^\s/u.test(this.vocabulary[token]) : this.spaced;
    const blank = isApart && place ? " " : "";
    const before = this.text.lastElementChild;
    const isMark = before && /^[^\p{L}\p{N}]+$/u.test(name.textContent);
    if (!isMark) this.text.append(blank, button);
    else if (before.localName === "s") before.append(blank, button);
    else {
      const unbroken = make("s"); // punctuation begins no line
      before.replaceWith(unbroken);
      unbroken.append(before, blank, button);
    }
  }

  buttons() {
    return [...this.text.querySelectorAll("button")];
  }

  complain(sentence) {
    this.problem.textContent = sentence;
    this.problem.hidden = false;
  }

  // -- the chosen token, and the part whose row is open

  choose(place) {
    this.chosen = place;
    for (const [at, button] of this.buttons().entries()) {
      button.tabIndex = at === place ? 0 : -1;
      button.ariaPressed = String(at === place);
    }
    this.show();
  }

  nameAt(place) {
    return this.nameOf(this.tokens[place]);
  }

  /** The name of a token; one that is blank shows its signs. */
  nameOf(token) {
    const name = this.vocabulary[token];
    if (!this.isLarge) return name;
    return name.trim() || name.replaceAll("\n", "↵").replaceAll(" ", "␣");
  }

  /** Return the token at a place, its rival, the logits of both, and the parts with their shares in both. */
  accountOf(place) {
    const step = this.steps[place - 1];
    if (!step || this.isLarge) return step;
    const token = this.tokens[place];
    const rival = largest(step.logits.map((logit, at) => (at === token ? -Infinity : logit)));
    const ofBoth = (numbers) => [numbers[token], numbers[rival]];
    const rows = this.parts.map((part, at) => {
      return { part, shares: ofBoth(step.shares[at]), weights: step.weights[at] };
    });
    return { token, rival, logits: ofBoth(step.logits), rows };
  }

  show() {
    const { chosen, words } = this;
    const account = this.accountOf(chosen);
    this.table.style.visibility = account ? "visible" : "hidden";
    if (!account) {
      this.shade([], -1);
      this.told.textContent = fill(words.first, { token: this.nameAt(chosen) });
      return;
    }
    const heads = account.rows.filter(({ weights }) => weights);
    const open = heads.find(({ part }) => part === this.head) ?? rowOfMost(heads);
    this.showTable(account, open);
    this.shade(open?.weights ?? [], chosen - 1);
    this.told.textContent = this.tell(account, open);
  }

  tell({ rival, logits, rows }, open) {
    const { words } = this;
    const best = this.isLarge ? rows[0] : rowOfMost(rows); // Python sorts them by what they decide
    const [said, other] = best.shares;
    const numbers = { share: number(said, 1), logit: number(logits[0], 1) };
    const leads = { share: number(said - other, 1), lead: number(logits[0] - logits[1], 1) };
    const decided = fill(words.decided, { ...leads, part: best.part.name });
    return fill(words.told, {
      most: this.isLarge ? decided : fill(words.most, { ...numbers, part: best.part.name }),
      read: open ? this.tellReading(open, open === best) : "",
      beside: fill(logits[1] > logits[0] ? words.was_likelier : words.beside, {
        token: this.nameOf(rival),
        logit: number(logits[1], 1),
      }),
    });
  }

  tellReading({ part, weights }, isBest) {
    const { words, chosen } = this;
    const key = largest(weights);
    const reading = { query: this.nameAt(chosen - 1), token: this.nameAt(key), weight: number(weights[key]) };
    return fill(isBest ? words.it_read : words.head_read, { ...reading, part: part.name });
  }

  showTable({ token, rival, logits, rows: all }, open) {
    const { words } = this;
    const isLikelier = logits[1] > logits[0];
    this.saidTitle.textContent = fill(words.said, { token: this.nameOf(token) });
    this.rivalTitle.textContent = fill(isLikelier ? words.likelier : words.rival, {
      token: this.nameOf(rival),
    });
    const both = all.flatMap(({ shares }) => shares);
    const low = Math.min(0, ...both);
    const scale = 100 / (Math.max(0, ...both) - low || 1);
    const cell = (share) => {
      const bar = make("i");
      const from = Math.min(0, share) - low;
      bar.style.cssText = `left: ${from * scale}%; width: ${Math.abs(share) * scale}%`;
      const zero = make("em");
      zero.style.left = `${-low * scale}%`;
      return make(
        "td",
        {},
        make("div", {}, make("span", {}, bar, zero), make("b", { textContent: number(share) })),
      );
    };
    const rows = all.map((one) => {
      const { name, head } = one.part;
      const isOpen = one === open;
      const properties = { textContent: name, tabIndex: isOpen ? 0 : -1, ariaPressed: String(isOpen) };
      const title = head ? make("button", properties) : name;
      const row = make("tr", {}, make("th", { scope: "row" }, title), ...one.shares.map(cell));
      row.classList.toggle("open", isOpen);
      if (head) row.onclick = () => this.openPart(one.part);
      return row;
    });
    const sums = logits.map((logit) =>
      make("td", {}, make("div", {}, make("span"), make("b", { textContent: number(logit) }))),
    );
    rows.push(
      make("tr", { className: "sum" }, make("th", { scope: "row", textContent: words.sum }), ...sums),
    );
    this.body.replaceChildren(...rows);
  }

  /** Show where a head has looked; it stays open for the next tokens. */
  openPart(part) {
    const hadFocus = this.body.contains(document.activeElement);
    this.head = part;
    this.show();
    if (hadFocus) this.body.querySelector(".open button").focus();
  }

  /** Shade the tokens by a head's weights, write the largest ones, and outline the query. */
  shade(weights, query) {
    const named = [...weights.keys()].sort((a, b) => weights[b] - weights[a]).slice(0, NAMED);
    for (const [at, button] of this.buttons().entries()) {
      const here = weights[at] ?? 0;
      button.style.setProperty("--weight", here.toFixed(3));
      button.classList.toggle("query", at === query);
      button.querySelector("sub")?.remove();
      if (named.includes(at) && here >= 0.005) button.append(make("sub", { textContent: number(here) }));
    }
  }

  // -- keys

  answerKeys() {
    const { root } = this;
    root.onkeydown = (event) => {
      if (event.key === "Escape") return leave(root);
      if (!isOwnKey(event)) return;
      event.stopPropagation(); // it must not turn the slide
      if (event.key === "Enter" && event.target === this.input) this.write(1);
      this.answerMove(event);
    };
  }

  /** The arrows move among the tokens of the text, or among the heads of the table. */
  answerMove(event) {
    const step = MOVES[event.key];
    const among = [this.text, this.body].find((part) => part.contains(event.target));
    if (!step || !among || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault(); // it must not scroll
    const buttons = [...among.querySelectorAll("button")];
    const place = buttons.indexOf(event.target.closest("button")) + step;
    const next = buttons[Math.min(Math.max(place, 0), buttons.length - 1)];
    next.focus();
    next.click();
  }
}

export default { render: ({ model, el }) => new WhoSaidView(model).open(el) };
