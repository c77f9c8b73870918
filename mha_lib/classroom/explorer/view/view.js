// The page around the picture: it shows the widget's traits, and answers pointer and keys.

import { coverRows } from "./arcs.js";
import { ArcsView } from "./arcs_view.js";
import { choose, clamp, isSame, numbersTo, unpack } from "./decode.js";
import { fill, make } from "./elements.js";
import { arrange, widestOf } from "./grid.js";
import { askInPage } from "./in_page.js";
import { makeInput } from "./inputs.js";
import { hideOwnKeys } from "./own_keys.js";
import { paint, readLook, savePicture } from "./paint.js";
import { answerKeys, answerPointer } from "./pointing.js";
import { sayCall, sayCell, sayOverviewHead, sayPicture, sayTitle, sayWay, wordsFor } from "./words.js";

const KEPT_WEIGHTS = 2 ** 24; // in answers
const MARGINS = 14; // pixels above and below the parts
const SLIDERS = ["9em", "6em"]; // their widths
const NO_LABELS = [];
const LEAST_FRAME = 34; // em, for the legend and the status
const DESCRIBE_AFTER = 150; // milliseconds without a move

class ExplorerView {
  constructor(model) {
    this.model = model;
    this.words = wordsFor(model);
    this.pictures = new Map(); // computed ahead, by their settings
    this.answers = new Map(); // computed on demand
    this.labelWidths = new Map(); // of pictures with so many queries and keys: see noteLabels()
    this.measured = new WeakMap(); // the widths of lists of labels
    this.picture = null; // the last one on show
    this.moved = null; // the input that asked for the next one
    this.overviewAt = null; // the overview from which a head was opened: its setting, and that head there
    this.toFocus = null; // the head of the next picture that is to take the focus
    this.note = ""; // a remark on the last move, which a change of size leaves
    this.room = null; // the largest size of the picture
    this.scale = 1; // of a pixel of the canvas, on the page
    this.drawing = null;
    this.pointed = null; // the cell under the pointer, or the one that was tapped
    this.pointer = ""; // mouse, pen or touch; "" after a key was pressed
    this.makeElements();
    answerPointer(this);
    answerKeys(this);
  }

  makeElements() {
    const { model, words } = this;
    this.roomProbe = make("i", { className: "room" });
    this.measures = Object.keys(model.get("table").directory[0].measures ?? {});
    this.inputs = model.get("controls").map((control) => makeInput(control, this));
    const elements = this.inputs.map(({ element }) => element);
    this.arcs = new ArcsView(this);
    this.controls = make("div", { className: "settings" }, ...elements, this.arcs.control);
    this.message = make("summary");
    this.traceback = make("pre", { tabIndex: 0 });
    this.problem = make("div", { role: "alert" }, make("details", {}, this.message, this.traceback));
    this.canvas = make("canvas");
    this.ctx = this.canvas.getContext("2d");
    this.overlay = make("div", { role: "group", ariaLabel: words.heads });
    this.backButton = make("button", { onclick: () => this.goBack() });
    this.sentence = make("span");
    this.way = make("span", { ariaHidden: "true" });
    this.status = make("p", { role: "status" }, this.sentence, this.way);
    this.saveButton = make("button", {
      className: "own",
      textContent: words.save,
      onclick: () => this.save(),
    });
    this.map = make("div", { className: "map" }, this.canvas, this.overlay);
    this.stage = make("div", { className: "stage" }, this.arcs.element, this.map);
    this.call = make("code", { title: words.call_means });
    this.foot = make(
      "div",
      { className: "foot" },
      this.status,
      this.call,
      this.backButton,
      this.arcs.button,
      this.saveButton,
    );
    const parts = [this.roomProbe, this.controls, this.problem, this.stage, this.foot];
    if (isHandout() && model.get("page").worker) {
      this.ask = askInPage(model.get("page"), words, (setting, picture) => {
        this.answers.set(JSON.stringify(setting), picture);
        this.keepAnswers();
      });
      parts.splice(2, 0, make("p", { className: "in-page", textContent: words.in_page }));
    }
    this.root = make("div", { className: "mha-explorer" }, ...parts);
    this.root.addEventListener("steptaken", () => this.arcs.goTo(Number(this.root.dataset.taken)));
    this.root.toggleAttribute("data-measured", this.measures.length > 0);
  }

  /** Enter an element of the page; returns the function to call when that element goes. */
  open(element) {
    const { model } = this;
    unpack(model.get("table"), this.pictures);
    this.noteLabels(this.pictures);
    element.append(this.root);
    const traits = [
      "setting",
      "sample",
      "enlarged",
      "to_max",
      "by_root",
      "measure",
      "order",
      "view",
      "query",
    ];
    model.on(traits.map((trait) => `change:${trait}`).join(" "), () => {
      this.note = "";
      this.show();
    });
    model.on("change:answer", () => this.takeAnswer());
    if (model.get("answer").maps) this.takeAnswer();
    const stop = this.followPage();
    this.measure();
    return stop;
  }

  /** Follow the size of the page and its theme. */
  followPage() {
    const sizes = new ResizeObserver(() => this.measure());
    const around = new ResizeObserver(([{ contentRect }]) => {
      if (contentRect.width !== this.around) this.measure();
      this.around = contentRect.width; // the explorer itself makes the height
    });
    const themes = new MutationObserver(() => this.takeLook());
    const ending = new AbortController();
    const { signal } = ending;
    for (const element of [this.controls, this.roomProbe]) sizes.observe(element);
    around.observe(this.root.parentElement);
    themes.observe(document.body, { attributeFilter: ["data-jp-theme-light"] });
    addEventListener("resize", () => this.measure(), { signal });
    for (const query of ["print", "(prefers-color-scheme: dark)"])
      matchMedia(query).addEventListener("change", () => this.takeLook(), { signal });
    hideOwnKeys(this.root, signal);
    return () => {
      ending.abort();
      for (const observer of [sizes, around, themes]) observer.disconnect();
      this.close();
    };
  }

  /** Free all that is large: JupyterLab may keep the element of a closed widget. */
  close() {
    clearTimeout(this.describing);
    this.root.remove();
    Object.assign(this.canvas, { width: 0, height: 0 });
    this.pictures.clear();
    this.answers.clear();
    this.drawing = this.picture = this.moved = null;
  }

  /** Give a trait a new value; `name` is that of the input that was moved. */
  move(trait, value, name) {
    this.moved = trait === "setting" && this.picture ? { name, from: this.picture } : null;
    if (trait === "setting") Object.assign(this, { overviewAt: null, toFocus: null });
    this.model.set(trait, value);
    this.model.save_changes();
  }

  // -- the picture on show

  /** Show the current setting. Until its picture is there, the last one stays, dimmed. */
  show() {
    const setting = JSON.stringify(this.model.get("setting"));
    const picture = this.pictures.get(setting) ?? this.answers.get(setting);
    const { error = "", traceback = "" } = picture ?? {};
    if (!picture) this.ask?.(this.model.get("setting"));
    for (const input of this.inputs) input.show();
    clearTimeout(this.describing);
    this.stage.ariaBusy = !picture;
    this.stage.hidden = this.saveButton.disabled = Boolean(error);
    this.problem.hidden = !error;
    this.message.textContent = error;
    this.traceback.textContent = traceback;
    if (!picture) this.say(this.sayMissing());
    else if (error) this.say("");
    else if (this.room) this.showPicture(picture);
    const { overviewAt, words } = this; // the way back stays while the picture of an opened head is missing
    this.backButton.hidden = !this.canGoBack();
    this.backButton.textContent = overviewAt ? words.to_overview : words.all_heads;
  }

  canGoBack() {
    return Boolean(this.overviewAt ?? this.drawing?.isEnlarged);
  }

  sayMissing() {
    const { computing, computing_in_page, not_in_handout } = this.words;
    if (this.ask) return computing_in_page;
    return isHandout() ? not_in_handout[this.model.get("table").carries] : computing;
  }

  showPicture(picture) {
    const { model, words, pointed } = this;
    const traits = ["sample", "enlarged", "to_max", "by_root", "order"];
    const [sample, enlarged, toMax, byRoot, order] = traits.map((trait) => model.get(trait));
    const measure = this.measures[model.get("measure")];
    const ofMasks = model.get("table").of_masks;
    const labelWidths = this.widthsOf(picture);
    const choice = { sample, enlarged, toMax, byRoot, measure, order };
    const isNumbers = ofMasks || model.get("of_numbers");
    const shown = { ...choose(picture, choice), labelWidths, words, ofMasks, isNumbers };
    const { heads, queries, keys } = shown;
    const isThere = pointed && heads.includes(pointed.head) && pointed.query < queries && pointed.key < keys;
    if (this.moved) this.note = this.sayUnmoved(picture, sample);
    this.moved = null;
    this.picture = picture;
    this.pointed = isThere ? pointed : null;
    const room = this.arcs.prepare(shown, this.room);
    this.map.hidden = !room;
    this.drawing = arrange(this.ctx, shown, room ?? this.room);
    this.overlay.ariaLabel = shown.overview ? words.overview_heads : words.heads;
    this.placeElements();
    this.call.textContent = sayCall(shown);
    if (this.toFocus !== null) this.focusOn(this.toFocus);
    this.fitFrame();
    this.draw();
    this.describing = setTimeout(() => this.describe(), DESCRIBE_AFTER);
  }

  /** Note how wide labels can be. All pictures with as many queries and keys keep room for the widest, so that
   * maps keep their size while a slider is dragged. */
  noteLabels(pictures) {
    const widthOf = (lists = NO_LABELS) => {
      const { measured } = this;
      if (!measured.has(lists)) measured.set(lists, widestOf(this.ctx, lists.flat()));
      return measured.get(lists);
    };
    for (const { queries, keys, queryLabels, keyLabels } of pictures.values()) {
      const widths = this.widthsOf({ queries, keys });
      widths.queries = Math.max(widths.queries, widthOf(queryLabels));
      widths.keys = Math.max(widths.keys, widthOf(keyLabels));
    }
  }

  widthsOf({ queries, keys }) {
    const size = `${queries} ${keys}`;
    if (!this.labelWidths.has(size)) this.labelWidths.set(size, { queries: 0, keys: 0 });
    return this.labelWidths.get(size);
  }

  /** Explain why a move changed nothing: the length of one sample, for example, changes no other sample. */
  sayUnmoved(picture, sample) {
    const { words } = this;
    const { name, from } = this.moved;
    if (picture === from || !isSame(picture, from, sample)) return "";
    const others = numbersTo(picture.samples.length).filter((other) => !isSame(picture, from, other));
    const named = others.join(words.between_samples);
    return fill(named ? words.unmoved_sample : words.unmoved, { name, sample, others: named });
  }

  /** Lay an element over each head, which takes pointer and keys. */
  placeElements() {
    const { width, height, tiles, cellWidth, cellHeight, keys, queries } = this.drawing;
    Object.assign(this.canvas, { width, height });
    this.canvas.style.width = `${width * this.scale}px`;
    const { overview } = this.drawing;
    if (this.overlay.children.length !== tiles.length) {
      const onblur = () => this.pointer === "touch" || this.aim(null);
      const onfocus = ({ target }) => this.answerFocus(target);
      this.overlay.replaceChildren(...tiles.map(() => make("div", { onblur, onfocus })));
    }
    const size = `width:${cellWidth * keys}px; height:${cellHeight * queries}px`;
    const role = overview ? "button" : "application";
    for (const [index, { head, x, y }] of tiles.entries()) {
      const style = `left:${x}px; top:${y}px; ${size}`;
      const ariaLabel = overview ? sayOverviewHead(this.drawing, head) : sayTitle(this.drawing, head);
      const tabIndex = overview && index > 0 ? -1 : 0; // arrows move in an overview: Tab would take too long
      Object.assign(this.overlay.children[index], { style, role, tabIndex, ariaLabel }).dataset.head = head;
    }
  }

  /** In an overview the focus is where a pointer would be. */
  answerFocus(element) {
    if (!this.drawing.overview) return;
    for (const other of this.overlay.children) other.tabIndex = other === element ? 0 : -1;
    if (!this.pointer) this.aim({ head: Number(element.dataset.head), query: 0, key: 0 });
  }

  /** Give the focus to a head, or to the first. */
  focusOn(head) {
    this.toFocus = null;
    this.overlay.children[Math.max(0, this.drawing.heads.indexOf(head))].focus();
  }

  /** Make the frame that an explorer has in a handout as wide as its content; it never becomes narrower. */
  fitFrame() {
    if (this.room.isFixed || !isHandout() || this.arcs.isOn) return;
    const { end, em } = this.drawing;
    this.needed = Math.max(this.needed, Math.max(LEAST_FRAME * em, end + em) * this.scale);
    this.root.style.maxWidth = `${Math.ceil(this.needed) + MARGINS}px`;
  }

  /** The width of the controls in one line, or in the lines that they have. */
  widthOfControls() {
    const { controls } = this;
    const start = controls.getBoundingClientRect().left;
    const labels = [...controls.children].map((label) => label.getBoundingClientRect());
    const isInLines = labels.some(({ top }) => top > labels[0].bottom);
    return isInLines ? controls.clientWidth : Math.max(start, ...labels.map(({ right }) => right)) - start;
  }

  draw() {
    const { drawing, look, pointed } = this;
    if (!drawing) return;
    const { arcs, ctx, scale, pictures } = this;
    if (!this.map.hidden) paint(ctx, { ...drawing, ...look, pointed });
    if (!arcs.isOn) return;
    if (!this.map.hidden) coverRows(ctx, drawing, look, arcs.query);
    arcs.draw(ctx, scale, pictures.values().next().value);
  }

  describe() {
    const { drawing, pointed } = this;
    this.status.toggleAttribute("data-rest", !pointed && !this.note && !drawing.note);
    if (pointed && drawing.overview) this.say(sayOverviewHead(drawing, pointed.head), sayWay(drawing));
    else if (pointed) this.say(sayCell(drawing, pointed));
    else if (this.arcs.query >= 0) this.say(this.arcs.say());
    else this.say(`${this.note} ${sayPicture(drawing)}`.trim(), this.map.hidden ? "" : sayWay(drawing));
  }

  say(sentence, way = "") {
    this.sentence.textContent = sentence;
    this.way.textContent = way;
  }

  /** Take the picture that Python has computed for a missing setting. */
  takeAnswer() {
    unpack(this.model.get("answer"), this.answers);
    this.keepAnswers();
  }

  /** Show the new answers, and forget the oldest where there are many. */
  keepAnswers() {
    const { answers } = this;
    this.noteLabels(answers);
    let newer = 0; // weights, in answers that came later
    for (const [setting, { samples = [] }] of [...answers].reverse()) {
      if (newer > KEPT_WEIGHTS) answers.delete(setting);
      newer += samples.reduce((sum, maps) => sum + maps.length, 0);
    }
    this.show();
  }

  save() {
    const caption = this.inputs.map((input) => input.say()).join(this.words.between_settings);
    savePicture(this.drawing, caption, readLook(this.root, "light"));
  }

  // -- what pointer and keys ask for (pointing.js)

  aim(cell) {
    this.pointed = cell;
    this.draw();
    this.describe();
  }

  toggle(head) {
    const { headCount, isEnlarged, overview } = this.drawing;
    if (overview) this.openHead(head);
    else if (isEnlarged) this.goBack();
    else if (headCount > 1) this.enlarge(head);
  }

  /** Open a head of the overview: another setting, with that head enlarged. */
  openHead(head) {
    const [setting, enlarged] = this.drawing.overview.opens[head];
    const overviewAt = { setting: this.model.get("setting"), head };
    this.pointed = null;
    this.model.set("enlarged", enlarged);
    this.move("setting", setting);
    Object.assign(this, { overviewAt, toFocus: enlarged }).show();
  }

  /** Return to all heads, or to the overview if the head was opened there. */
  goBack() {
    const { overviewAt } = this;
    if (!overviewAt) return this.enlarge(-1);
    this.pointed = null;
    this.model.set("enlarged", -1);
    this.move("setting", overviewAt.setting);
    Object.assign(this, { toFocus: overviewAt.head }).show();
  }

  /** Let one head fill the picture, or show all of them (-1). */
  enlarge(head) {
    this.pointed = null;
    this.move("enlarged", head);
    this.focusOn(head);
  }

  // -- size and theme

  /** Measure the room. A deck gives it as --explorer-room, with the size of its letters. */
  measure() {
    const { root, controls, foot, overlay } = this;
    root.style.maxWidth = ""; // else it would hide how much room there is
    const width = controls.clientWidth;
    if (!width) return; // not on the page yet
    const room = this.roomProbe.offsetHeight;
    root.style.maxHeight = room ? `${room}px` : "";
    root.toggleAttribute("data-fits", room > 0);
    root.style.fontSize = "";
    const em = room ? Number.parseFloat(getComputedStyle(root).fontSize) : clamp(width / 90, 12, 16);
    this.setLetters(em);
    const lines = (width > 60 * em ? 1 : 2) + (this.measures.length ? 1 : 0); // of the status
    root.style.setProperty("--lines", lines);
    const place = root.getBoundingClientRect();
    const density = (devicePixelRatio * place.width) / root.offsetWidth; // a deck may scale its slides
    const height = room
      ? room - controls.offsetHeight - foot.offsetHeight - MARGINS
      : Math.max(280, 0.74 * innerHeight - controls.offsetHeight - 3 * em); // 3 em for the status
    this.scale = 1 / density;
    overlay.style.transform = `scale(${this.scale})`;
    this.room = {
      width: Math.round(width * density),
      height: height * density,
      em: em * density,
      isFixed: room > 0,
    };
    this.needed = this.widthOfControls(); // pixels: the greatest width in this room so far
    this.look = readLook(root);
    this.show();
  }

  /** Set the size of the letters; sliders are shorter if that saves a line of controls. */
  setLetters(em) {
    const { controls, root } = this;
    root.style.fontSize = `${em}px`;
    root.style.setProperty("--zoom", Math.max(1, em / 16));
    const heights = SLIDERS.map((width) => {
      root.style.setProperty("--slider", width);
      return controls.offsetHeight;
    });
    if (heights[0] === heights[1]) root.style.setProperty("--slider", SLIDERS[0]);
  }

  /** Read the colours of the page's theme. Off the page there are none: measure() reads them later. JupyterLab hides
   * its content, for less than a frame, while it changes the theme: there they are. */
  takeLook() {
    if (!this.root.isConnected) return;
    this.look = readLook(this.root);
    this.draw();
  }
}

const isHandout = () => "handout" in document.documentElement.dataset;

export default { render: ({ model, el }) => new ExplorerView(model).open(el) };
