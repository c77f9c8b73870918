// The element of the second view: the arcs, a slider over the queries, nodes that turn heads off, the shares that
// Python has computed for the setting, and steps, which the stage takes with its own keys.
import { colourOf, drawArcs, hasArcs, hasChips, sayArcs, shareRoom } from "./arcs.js";
import { clamp, numbersTo } from "./decode.js";
import { make } from "./elements.js";
import { labelOf, sayTitle } from "./words.js";

export class ArcsView {
  constructor(view) {
    const { model, words } = view;
    Object.assign(this, { view, model, words, arcs: model.get("arcs") });
    this.svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    this.svg.setAttribute("role", "img");
    this.svg.onclick = (event) => this.pick(event);
    this.nodes = make("div", { role: "group", ariaLabel: words.nodes, className: "nodes" });
    this.bars = make("div", { className: "bars" });
    this.element = make("div", { className: "arcs" }, this.nodes, this.svg, this.bars);
    this.slider = make("input", { type: "range", ariaLabel: words.word });
    this.slider.oninput = () => this.ask(Number(this.slider.value));
    this.word = make("span");
    this.control = make("label", {}, words.word, this.slider, this.word);
    this.button = make("button", { className: "view", onclick: () => this.toggle() });
  }

  get isOn() {
    return this.model.get("view") === "arcs" && this.isPossible;
  }

  toggle() {
    if (this.isPossible) this.view.move("view", this.isOn ? "map" : "arcs");
  }

  ask(query) {
    this.view.move("query", query);
  }

  /** Note what a picture allows, and say so on the page; returns the room of the map, or null without one. */
  prepare(shown, room) {
    const { arcs, control, button, element, model, view, words } = this;
    const { dataset } = view.root;
    this.isPossible = hasArcs(shown, arcs, model.get("table"));
    const { isOn } = this;
    button.hidden = !this.isPossible;
    button.textContent = isOn ? words.to_map : words.to_arcs;
    control.hidden = element.hidden = !isOn;
    for (const input of view.inputs) // nodes are in the place of those that turn heads off
      input.element.hidden =
        isOn && arcs.heads >= 0 && input.at >= arcs.heads && input.at < arcs.heads + shown.headCount;
    delete dataset.steps;
    this.query = -1;
    if (!isOn) return room;
    this.shown = shown;
    this.query = Math.min(model.get("query"), shown.queries - 1);
    [this.count, this.step] = arcs.steps < 0 ? [shown.queries, this.query] : this.stepsOfSetting();
    Object.assign(dataset, { steps: this.count, taken: this.step });
    this.room = { ...room, ...shareRoom(view.ctx, shown, arcs, room) };
    return this.room.map;
  }

  stepsOfSetting() {
    const { steps } = this.arcs;
    const input = this.model.get("controls").find(({ trait, at }) => trait === "setting" && at === steps);
    return [input.texts.length, this.model.get("setting")[steps]];
  }

  /** Go to a step of the words, or of the control whose steps are taken. */
  goTo(step) {
    const { steps } = this.arcs;
    const next = clamp(step, 0, this.count - 1);
    if (steps < 0) this.ask(next);
    else
      this.view.move(
        "setting",
        this.model.get("setting").map((old, at) => (at === steps ? next : old)),
      );
  }

  draw(ctx, scale, first) {
    const { svg, shown, arcs, query, room, slider, words } = this;
    const places = drawArcs(svg, ctx, shown, arcs, query, { ...room, isOn: (head) => this.isHeadOn(head) });
    const size = { width: room.width * scale, height: room.height * scale };
    Object.assign(svg.style, { width: `${size.width}px`, height: `${size.height}px` });
    svg.setAttribute("aria-label", this.say() || words.all_arcs);
    this.places = places;
    Object.assign(slider, { min: arcs.steps < 0 ? 0 : -1, max: shown.queries - 1, value: query });
    slider.ariaValueText = this.word.textContent =
      query < 0 ? words.all_words : labelOf(shown.queryLabels, query);
    this.placeNodes(places, scale);
    this.showBars(shown.bars, first.bars);
  }

  /** The sentence of the query's arcs in the heads that are on; "" for all queries. */
  say() {
    const heads = this.shown.heads.filter((head) => this.isHeadOn(head));
    return sayArcs({ ...this.shown, heads }, this.query);
  }

  isHeadOn(head) {
    const { heads } = this.arcs;
    return heads < 0 || this.model.get("setting")[heads + head] === 1;
  }

  /** The names of heads: over their nodes, where a click turns them off if the setting can; or above the arcs,
   * where a click shows one head alone. */
  placeNodes({ nodes }, scale) {
    const { shown, arcs, view } = this;
    const chips = hasChips(shown, arcs.layers) ? numbersTo(shown.headCount).map((head) => ({ head })) : nodes;
    this.nodes.className = chips === nodes ? "nodes" : "nodes chips";
    if (this.nodes.children.length !== chips.length)
      this.nodes.replaceChildren(...chips.map(() => make("button", { className: "node" })));
    for (const [place, { head, x, y, isOff = !shown.heads.includes(head) }] of chips.entries()) {
      const isAlone = shown.isEnlarged && !isOff;
      const node = this.nodes.children[place];
      const title = shown.shortLabels?.[head] ?? sayTitle(shown, head);
      const onclick = () => (chips === nodes ? this.turn(head) : view.move("enlarged", isAlone ? -1 : head));
      Object.assign(node, { textContent: title, onclick, ariaPressed: !isOff });
      node.disabled = chips === nodes && arcs.heads < 0;
      const at = chips === nodes ? `left:${x * scale}px; top:${y * scale}px; ` : "";
      node.style.cssText = `${at}--head: ${colourOf(shown, head)}`;
      node.toggleAttribute("data-off", isOff);
    }
  }

  turn(head) {
    const { heads } = this.arcs;
    const setting = this.model.get("setting").map((old, at) => (at === heads + head ? 1 - old : old));
    this.view.move("setting", setting);
  }

  /** Bars of the shares, each with a mark where it was at first. */
  showBars(bars = {}, first = {}) {
    const rows = Object.entries(bars).map(([name, share]) => {
      const bar = make("div", { className: "bar" });
      bar.style.cssText = `--share:${share}; --first:${first[name] ?? share}`;
      return make(
        "div",
        { className: "row" },
        make("span", { textContent: `${name}  ${share.toFixed(2)}` }),
        bar,
      );
    });
    this.bars.replaceChildren(...rows);
  }

  /** A click on a token chooses its query. */
  pick({ offsetX }) {
    const { places, shown, view } = this;
    const query = Math.round((offsetX / view.scale - places.ofQuery(0)) / places.pitch);
    this.ask(clamp(query, 0, shown.queries - 1));
  }
}
