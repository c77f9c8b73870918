// The explorer's view: decode what Python computed, arrange the heads, paint them, and the page around them.
// All state is in the model's traits.

const THEMES = {
	light: { paper: "#fff", ink: "#1b1b1b", quiet: "#585858", grey: 0xececec, queries: "#0067A5", keys: "#B04500" },
	dark: { paper: "#111", ink: "#ececec", quiet: "#b4b4b4", grey: 0x2b2b2b, queries: "#56B4E9", keys: "#F0954E" },
};
const VIRIDIS = "440154481a6c472f7e41448839578c30688e2a788e23888e1e988b21a88434b77953c66879d252a5db36d3e218fde725";
const HATCHING = "#8c8c8c", FONT = "system-ui";
const numbersTo = (count) => Array.from({ length: count }, (_, i) => i);

// ---- decode ----

/** Every float16 that is not negative; the sign bit says that the mask forbids it. */
const HALVES = Float32Array.from(numbersTo(0x7c00), (bits) =>
	bits < 1024 ? bits * 2 ** -24 : (1024 + (bits % 1024)) * 2 ** ((bits >> 10) - 25),
);
const weightOf = (bits) => HALVES[bits & 0x7fff];
const isForbidden = (bits) => bits > 0x7fff;

/** Add the pictures of a table, each by its setting: the maps and labels of each sample, or an error. */
async function unpack(pictures, { table, directory, labels }) {
	const stream = new Blob([table]).stream().pipeThrough(new DecompressionStream("deflate"));
	const numbers = new Uint16Array(await new Response(stream).arrayBuffer());
	for (const { state, error, traceback, shape, at, query_labels, key_labels } of directory) {
		const [, heads, queries, keys] = shape ?? [], queryLabels = labels[query_labels], keyLabels = labels[key_labels];
		const samples = at?.map((start) => numbers.subarray(start, start + heads * queries * keys));
		pictures.set(JSON.stringify(state), { error, traceback, heads, queries, keys, samples, queryLabels, keyLabels });
	}
}

/** What is on show of a picture: one sample, of all heads or of the enlarged one. */
function choose(picture, sample, enlarged, toMax) {
	const which = Math.min(sample, picture.samples.length - 1), maps = picture.samples[which];
	const largest = maps.reduce((best, bits, i) => ((bits & 0x7fff) > (maps[best] & 0x7fff) ? i : best), 0);
	const heads = numbersTo(picture.heads), most = weightOf(maps[largest]);
	return {
		...picture, maps, largest,
		heads: enlarged in heads ? [enlarged] : heads,
		queryLabels: picture.queryLabels[which],
		keyLabels: picture.keyLabels[which],
		top: Math.max(toMax && most ? 0 : 1, most),
		isMasked: maps.some(isForbidden),
	};
}

// ---- arrange: lengths are in the canvas's pixels ----

const short = (label) => Array.from(label).slice(0, 60).join("");
const widest = (ctx, labels) => Math.max(...labels.map((label) => ctx.measureText(short(label)).width));

function fit(ctx, label, room) {
	const letters = Array.from(short(label)), { length } = letters;
	while (letters.length && ctx.measureText(letters.join("")).width > room) letters.pop();
	return letters.join("") + (letters.length < length ? "…" : "");
}

/** What is on show and where it goes, with the cells as large as the room allows. */
function arrange(ctx, shown, { width, height, em }) {
	const { queries, keys, heads, queryLabels, keyLabels } = shown;
	ctx.font = `${em}px ${FONT}`;
	const queryRoom = Math.min(widest(ctx, queryLabels), 8 * em, width / 4), keyWidth = widest(ctx, keyLabels);
	const left = queryRoom + 2.2 * em, top = 2 * em, title = 1.5 * em, pitch = 7.5 * em; // a title's

	function grid(columns, below) {
		const rows = Math.ceil(heads.length / columns), wide = (width - left) / columns;
		const high = Math.max(8 * em, (height - top - below) / rows - title - em); // rather scroll down than squint
		const w = (wide - em) / keys, h = high / queries;
		const cell = Math.max(0, Math.min(w, h, 7 * em)) * (columns === 1 || wide > pitch);
		const size = (count) => Math.max(cell, (1.6 * em) / count); // thicker
		const whole = (x) => (x > 6 ? Math.floor(x) : x);
		return { columns, rows, below, w: whole(size(keys)), h: whole(size(queries)), cell };
	}
	const largestGrid = (below) =>
		heads.map((_, i) => grid(i + 1, below)).reduce((a, b) => ((b.cell - a.cell || a.rows - b.rows) > 0 ? b : a));
	let best = largestGrid(2.6 * em);
	const turned = keyWidth > best.w - 0.3 * em && keyLabels.some((label, i) => label !== `${i}`);
	const keyRoom = turned ? Math.min(keyWidth, 8 * em) : Math.max(keyWidth, best.w);
	if (turned) best = largestGrid(keyRoom + 1.8 * em);

	const { columns, rows, below, w, h } = best;
	const stepFor = (need, cell) => 2 ** Math.max(0, Math.ceil(Math.log2(need / cell)));
	const tiles = heads.map((head, i) => ({
		head,
		x: Math.round(left + (i % columns) * Math.max(w * keys + em, pitch)),
		y: Math.round(top + title + Math.floor(i / columns) * (h * queries + title + em)),
		isLowest: i + columns >= heads.length,
	}));
	return {
		...shown, em, tiles, w, h, turned, queryRoom, keyRoom, width,
		height: Math.ceil(top + rows * (title + h * queries + em) - em + below),
		queryStep: stepFor(em, h),
		keyStep: stepFor(turned ? em : keyWidth + 0.3 * em, w),
	};
}

// ---- paint: on the screen, and for the saved picture ----

const COLOURS = Uint32Array.from(numbersTo(256), (i) => {
	const place = i / 17, low = Math.min(Math.floor(place), 14), part = place - low;
	const [from, to] = [low, low + 1].map((anchor) => parseInt(VIRIDIS.slice(6 * anchor, 6 * anchor + 6), 16));
	const mix = (shift) => Math.round((1 - part) * ((from >> shift) & 255) + part * ((to >> shift) & 255));
	return (255 << 24) | (mix(0) << 16) | (mix(8) << 8) | mix(16);
});
const sheet = document.createElement("canvas"); // one pixel a cell, to be scaled

function fillSheet(width, height, colourOf) {
	Object.assign(sheet, { width, height });
	const image = new ImageData(width, height), pixels = new Uint32Array(image.data.buffer);
	for (let i = 0; i < pixels.length; i++) pixels[i] = colourOf(i);
	sheet.getContext("2d").putImageData(image, 0, 0);
}

function paintWeights(ctx, { maps, queries, keys, top, tiles, w, h, theme }) {
	const colourOf = (bits) => (bits === 0x8000 ? theme.grey + 0xff000000 : COLOURS[Math.round((weightOf(bits) / top) * 255)]);
	fillSheet(keys, maps.length / keys, (i) => colourOf(maps[i]));
	for (const { head, x, y } of tiles)
		ctx.drawImage(sheet, 0, head * queries, keys, queries, x, y, w * keys, h * queries);
}

function hatching(ctx, em) {
	const tile = document.createElement("canvas"), size = Math.round(em / 2), pen = tile.getContext("2d");
	Object.assign(tile, { width: size, height: size });
	Object.assign(pen, { strokeStyle: HATCHING, lineWidth: em / 13 });
	for (const shift of [-size, 0, size]) {
		pen.moveTo(shift - size, 2 * size);
		pen.lineTo(shift + 2 * size, -size);
	}
	pen.stroke();
	return ctx.createPattern(tile, "repeat");
}

/** Hatch what the mask forbids, run by run. */
function paintMask(ctx, { maps, queries, keys, em, tiles, w, h }) {
	ctx.beginPath();
	for (const { head, x, y } of tiles)
		for (let query = 0; query < queries; query++)
			for (let key = 0, start = 0; key <= keys; key++) {
				if (key < keys && isForbidden(maps[(head * queries + query) * keys + key])) continue;
				if (key > start) ctx.rect(x + start * w, y + query * h, (key - start) * w, h);
				start = key + 1;
			}
	ctx.fillStyle = hatching(ctx, em);
	ctx.fill();
}

function write(ctx, text, x, y, fillStyle, textAlign = "left", turned = false) {
	ctx.setTransform(...(turned ? [0, -1, 1, 0] : [1, 0, 0, 1]), x, y);
	Object.assign(ctx, { fillStyle, textAlign, textBaseline: "middle" }).fillText(text, 0, 0);
	ctx.resetTransform();
}

function paintAxes(ctx, view) {
	const { em, w, h, turned, tiles, queries, keys, keyRoom, queryRoom, theme, pointed } = view;
	write(ctx, "queries", 0.7 * em, (tiles[0].y + tiles.at(-1).y + h * queries) / 2, theme.queries, "center", true);
	for (const { head, x, y, isLowest } of tiles) {
		const weight = pointed ? sayWeight(view, { ...pointed, head }) : "";
		write(ctx, `head ${head}  ${weight}`, x, y - 0.8 * em, theme.ink);
		for (let i = 0; x === tiles[0].x && i < queries; i += view.queryStep)
			write(ctx, fit(ctx, view.queryLabels[i], queryRoom), x - 0.4 * em, y + (i + 0.5) * h, theme.ink, "right");
		if (!isLowest) continue;
		const under = y + h * queries + (turned ? 0.4 : 0.9) * em, name = under + (turned ? keyRoom + 0.7 * em : 1.1 * em);
		for (let i = 0, align = turned ? "right" : "center"; i < keys; i += view.keyStep)
			write(ctx, fit(ctx, view.keyLabels[i], keyRoom), x + (i + 0.5) * w, under, theme.ink, align, turned);
		write(ctx, "keys", x + (w * keys) / 2, name, theme.keys, "center");
	}
}

/** One colour bar for all heads, and what the hatching means. */
function paintLegend(ctx, { top, isMasked, em, theme }) {
	const end = `${+top.toPrecision(3)} weight`, bar = 9 * em;
	fillSheet(256, 1, (i) => COLOURS[i]);
	ctx.drawImage(sheet, 1.4 * em, 0.4 * em, bar, 0.9 * em);
	write(ctx, "0", 0.5 * em, 0.85 * em, theme.ink);
	write(ctx, end, bar + 1.8 * em, 0.85 * em, theme.ink);
	if (!isMasked) return;
	const x = bar + 3.2 * em + ctx.measureText(end).width;
	ctx.fillStyle = hatching(ctx, em);
	ctx.fillRect(x, 0.4 * em, 1.6 * em, 0.9 * em);
	write(ctx, "masked", x + 2 * em, 0.85 * em, theme.ink);
}

/** Row and column in every head; light on dark shows on any colour. */
function paintPointer(ctx, { queries, keys, em, tiles, w, h, pointed }) {
	ctx.beginPath();
	for (const { x, y } of tiles) {
		ctx.rect(x, y + pointed.query * h, w * keys, h);
		ctx.rect(x + pointed.key * w, y, w, h * queries);
	}
	for (const [strokeStyle, lineWidth] of [["#000", em / 4], ["#fff", em / 10]])
		Object.assign(ctx, { strokeStyle, lineWidth }).stroke();
}

function paint(ctx, view) {
	const { width, height } = ctx.canvas, { em, theme } = view;
	Object.assign(ctx, { font: `${em}px ${FONT}`, imageSmoothingEnabled: false, fillStyle: theme.paper });
	ctx.fillRect(0, 0, width, height);
	paintWeights(ctx, view);
	if (view.isMasked) paintMask(ctx, view);
	paintAxes(ctx, view);
	paintLegend(ctx, view);
	if (view.pointed) paintPointer(ctx, view);
}

/** On white paper, with the settings below. */
function savePicture(shown, caption) {
	const canvas = make("canvas"), ctx = canvas.getContext("2d"), em = 28, theme = THEMES.light;
	const view = arrange(ctx, shown, { width: 2000, height: 1300, em });
	const width = Math.max(30 * em, ctx.measureText(caption).width + em, ...view.tiles.map(({ x }) => x + view.w * shown.keys + em));
	Object.assign(canvas, { width, height: view.height + 2 * em });
	paint(ctx, { ...view, theme });
	write(ctx, caption, em / 2, view.height + em, theme.quiet);
	canvas.toBlob((blob) => make("a", { href: URL.createObjectURL(blob), download: "attention.png" }).click());
}

// ---- words ----

function sayWeight({ maps, queries, keys }, { head, query, key }) {
	const bits = maps[(head * queries + query) * keys + key], weight = weightOf(bits);
	const number = weight && weight < 0.001 ? weight.toExponential(0) : weight.toFixed(3);
	if (!isForbidden(bits)) return number;
	return weight ? `${number} although masked` : "masked";
}

function sayCell(view, cell) {
	const token = (labels, i) => (labels[i] === `${i}` ? i : `${i} “${short(labels[i])}”`);
	const query = token(view.queryLabels, cell.query), key = token(view.keyLabels, cell.key);
	return `head ${cell.head}, query ${query} → key ${key}: ${sayWeight(view, cell)}`;
}

function sayPicture(view) {
	const { maps, queries, keys, largest } = view, size = queries * keys;
	const cell = { head: Math.floor(largest / size), query: Math.floor((largest % size) / keys), key: largest % keys };
	return `Heads: ${maps.length / size}, queries: ${queries}, keys: ${keys}. Largest weight: ${sayCell(view, cell)}`;
}

// ---- the page around the picture ----

function make(tag, properties = {}, ...children) {
	const element = Object.assign(document.createElement(tag), properties);
	element.dataset.lmSuppressShortcuts = "true"; // its keys are not JupyterLab's
	element.append(...children);
	return element;
}

const INPUTS = {
	slider: (texts) => make("input", { type: "range", max: texts.length - 1 }),
	switch: () => make("input", { type: "checkbox" }),
	choice: (texts) => make("select", {}, ...texts.map((text, i) => new Option(text, i))),
	text: () => make("input"),
};

/** A labelled input for a trait, or for its entry `at`. */
function makeInput(model, set, { name, kind, texts, trait, at }) {
	const input = Object.assign(INPUTS[kind](texts), { ariaLabel: name }), value = make("span", { className: "value" });
	const property = kind === "switch" ? "checked" : "value";
	const get = () => model.get(trait)[at] ?? +model.get(trait);
	const read = () => (kind === "text" ? input.value : +input[property]);
	input.oninput = () => set(trait, at < 0 ? read() : model.get(trait).with(at, read()));
	return Object.assign(make("label", {}, name, input, value), {
		say: () => `${name}: ${texts[get()] ?? get()}`,
		show() {
			if (read() !== get()) input[property] = get();
			if (kind === "slider") input.ariaValueText = value.textContent = texts[get()];
		},
	});
}

function themeName() {
	const { jpThemeLight } = document.body.dataset, asked = matchMedia("(prefers-color-scheme: dark)").matches;
	const isDark = jpThemeLight ? jpThemeLight === "false" : asked;
	return isDark && !matchMedia("print").matches ? "dark" : "light";
}

async function render({ model, el }) {
	const ahead = new Map(), answers = new Map(), [table, directory, labels] = ["table", "directory", "labels"].map(model.get);
	await unpack(ahead, { table, directory, labels });

	let room, theme, view, pointed, timer;
	const set = (name, value) => {
		model.set(name, value);
		model.save_changes();
	};
	const inputs = model.get("controls").map((control) => makeInput(model, set, control));
	const onclick = () => savePicture(view, inputs.map((input) => input.say()).join(",  "));
	const save = make("button", { textContent: "save PNG", onclick });
	const controls = make("div", { className: "settings" }, ...inputs, save);
	const trace = make("pre", { tabIndex: 0 }), message = make("summary");
	const problem = make("div", { role: "alert" }, make("details", {}, message, trace));
	const canvas = make("canvas"), ctx = canvas.getContext("2d"), status = make("p", { role: "status" });
	const heads = make("div", { role: "group", ariaLabel: "heads: arrows point, Enter enlarges, Escape returns" });
	const stage = make("div", { className: "stage" }, canvas, heads, status);
	const root = make("div", { className: "mha-explorer" }, controls, problem, stage);
	el.append(root);

	/** The room there is, in the slide or the window. */
	function measure() {
		const width = controls.clientWidth, slide = root.closest(".reveal section");
		if (!width) return;
		const em = slide ? innerHeight / 40 : Math.max(12, Math.min(16, width / 90)); // read from the last row
		root.style.fontSize = `${em}px`;
		const density = (devicePixelRatio * root.getBoundingClientRect().width) / root.offsetWidth;
		const end = slide && slide.getBoundingClientRect().bottom - parseFloat(getComputedStyle(slide).paddingBottom);
		const below = slide ? end - root.getBoundingClientRect().top - em / 4 : 0.74 * innerHeight;
		const height = Math.max(280, below - controls.offsetHeight - 3 * em);
		heads.style.scale = 1 / density;
		room = { width: Math.round(width * density), height: height * density, em: em * density };
		show();
	}

	/** Show the current setting; while it is unknown, the last picture stays, dimmed. */
	function show() {
		const key = JSON.stringify(model.get("chosen")), picture = ahead.get(key) ?? answers.get(key), error = picture?.error;
		for (const input of inputs) input.show();
		clearTimeout(timer);
		stage.ariaBusy = !picture;
		problem.hidden = !error;
		stage.hidden = save.disabled = !!error;
		if (error) [message.textContent, trace.textContent] = [error, picture.traceback];
		else if (!picture) status.textContent = "handout" in document.documentElement.dataset
			? `Not in this handout, which carries ${model.get("carries")}. The notebook computes it.`
			: "computing… (after a kernel restart, run the cell again)";
		else if (room) {
			const shown = choose(picture, model.get("sample"), model.get("enlarged"), model.get("to_max"));
			pointed = null;
			view = arrange(ctx, shown, room);
			place(view);
			draw();
			timer = setTimeout(describe, 150); // at rest
		}
	}

	/** On each head lies an element for focus and pointer. */
	function place({ width, height, tiles, w, h, keys, queries }) {
		Object.assign(canvas, { width, height });
		canvas.style.width = `${width * heads.style.scale}px`;
		const element = () => make("div", { tabIndex: 0, role: "application", onblur: () => aim(null) });
		if (heads.children.length !== tiles.length) heads.replaceChildren(...tiles.map(element));
		tiles.forEach((tile, i) => {
			const style = `left:${tile.x}px; top:${tile.y}px; width:${w * keys}px; height:${h * queries}px`;
			Object.assign(heads.children[i], { tile, style, ariaLabel: `head ${tile.head}` });
		});
	}

	const draw = () => view && paint(ctx, { ...view, theme, pointed });
	const describe = () => (status.textContent = pointed ? sayCell(view, pointed) : sayPicture(view));

	function aim(cell) {
		pointed = cell;
		draw();
		describe();
	}

	function aimAt(head, query, key) {
		const within = (value, count) => Math.max(0, Math.min(count - 1, Math.floor(value)));
		aim({ head, query: within(query, view.queries), key: within(key, view.keys) });
	}

	function enlarge(head) {
		set("enlarged", head);
		heads.children[Math.max(0, view.heads.indexOf(head))].focus();
	}

	heads.onclick = (event) => enlarge(model.get("enlarged") < 0 ? event.target.tile.head : -1);
	heads.onpointermove = heads.onpointerdown = ({ target, offsetX, offsetY }) =>
		aimAt(target.tile.head, offsetY / view.h, offsetX / view.w);
	heads.onpointerout = () => aim(null);
	heads.onkeydown = (event) => {
		const steps = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
		const [down, right] = steps[event.key] ?? [], { head } = event.target.tile;
		if (event.key === "Enter") heads.onclick(event);
		if (down === undefined) return;
		event.preventDefault();
		const { query, key } = pointed?.head === head ? pointed : { query: -1, key: -1 };
		aimAt(head, query + down, key + right);
	};
	root.onkeydown = (event) => {
		event.stopPropagation(); // nor the slide's
		if (event.key === "Escape" && model.get("enlarged") >= 0) enlarge(-1);
	};

	async function takeAnswer() {
		await unpack(answers, model.get("answer"));
		if (answers.size > 256) answers.delete(answers.keys().next().value);
		show();
	}

	function retheme() {
		theme = THEMES[(root.style.colorScheme = themeName())];
		for (const [name, colour] of Object.entries(theme)) root.style.setProperty(`--${name}`, colour);
		draw();
	}

	model.on("change:chosen change:sample change:enlarged change:to_max", show);
	model.on("change:answer", takeAnswer);
	const ending = new AbortController(), sizes = new ResizeObserver(measure), themes = new MutationObserver(retheme);
	sizes.observe(controls);
	themes.observe(document.body, { attributeFilter: ["data-jp-theme-light"] });
	addEventListener("resize", measure, ending);
	for (const query of ["print", "(prefers-color-scheme: dark)"])
		matchMedia(query).addEventListener("change", retheme, ending);
	retheme();
	if (model.get("answer").table) takeAnswer();
	measure();
	return () => [ending.abort(), sizes.disconnect(), themes.disconnect()];
}

export default { render };
