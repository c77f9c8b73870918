// biome-ignore-all lint/performance/useDomNodeTextContent: what matters is the text that the class sees
// The faults in the layout of the slide that is shown, as a list of sentences; for decks.py.
() => {
  const slide = document.querySelector("section.present > section.present");
  const unit = Math.min(innerWidth / 1024, innerHeight / 720); // as deck.css has it
  const sizeOf = (node) => Number.parseFloat(getComputedStyle(node).fontSize) / unit;
  const all = (selector) =>
    [...slide.querySelectorAll(selector)].filter((node) =>
      node.checkVisibility({ visibilityProperty: true }),
    );
  const LETTERS = (13 * 4) / 3; // pixels: 13 points
  const UNSHOWN = ".reveal-skip, aside";
  const name = (node) => node.innerText.trim().slice(0, 40).replace(/\s+/g, " ");

  /** Titles have one size, and letters of 13 points, the smallest of stills, have at least 18 px. */
  function oddSizes() {
    const titles = slide.id === "slide-0-0" ? [] : all(":is(h1, h2):not(aside *)");
    const odd = titles.filter((title) => Math.abs(sizeOf(title) - 40) > 0.5);
    const scaleOf = (image) =>
      Math.min(image.clientWidth / image.naturalWidth, image.clientHeight / image.naturalHeight) / unit;
    const stills = all(".jp-OutputArea-output img").filter((image) => scaleOf(image) * LETTERS < 18.1);
    return [
      ...odd.map((title) => `a title of ${sizeOf(title).toFixed(1)} instead of 40: ${name(title)}`),
      ...stills.map((image) => `a still with letters of ${(scaleOf(image) * LETTERS).toFixed(1)} px`),
    ];
  }

  const linesOf = (code) => [...code.querySelectorAll(".cm-line")].filter((line) => line.textContent.trim());
  const boxOf = (line) => {
    const range = document.createRange();
    range.selectNodeContents(line);
    return range.getBoundingClientRect();
  };

  /** Lines that wrap, and boxes that are higher than their code. */
  function ragged() {
    return all(".jp-CodeCell:not(.jp-mod-editing) .cm-content").flatMap((code) => {
      const wrapped = linesOf(code).filter((line) => boxOf(line).height > 1.7 * sizeOf(code) * unit);
      const lines = [...code.querySelectorAll(".cm-line")];
      const height = lines.reduce((total, line) => total + line.getBoundingClientRect().height, 0);
      const spare = Math.round(code.closest(".jp-InputArea").getBoundingClientRect().height - height);
      return [
        ...wrapped.map((line) => `code is wrapped: ${line.textContent.trim().slice(0, 40)}`),
        ...(spare > 26 * unit ? [`a box ${spare} px higher than its code: ${name(code)}`] : []),
      ];
    });
  }

  /** Code below 24 px, although the lines leave some width of the slide and all its cells some height. */
  function wastedRoom() {
    const parts = (selector) =>
      [...slide.querySelectorAll(selector)].filter((part) => !part.closest(UNSHOWN));
    const codes = parts(".jp-CodeCell .cm-content");
    const outputs = parts(".jp-OutputArea-output pre");
    if (!codes.length || parts(".jp-OutputArea-output :is(img, .mha-explorer)").length) return [];
    const right = Math.max(...[...codes.flatMap(linesOf), ...outputs].map((line) => boxOf(line).right));
    const bottom = Math.max(...parts(".jp-Cell").map((cell) => cell.getBoundingClientRect().bottom));
    const smallest = Math.min(...codes.map(sizeOf));
    const isFull = right > 0.85 * innerWidth || bottom > 0.7 * innerHeight;
    return isFull || smallest > 23.9 ? [] : [`code of ${smallest.toFixed(1)} px on a slide with room`];
  }

  function unequalCode() {
    const sizes = all(".jp-CodeCell .cm-content").map(sizeOf);
    const [least, most] = [Math.min(...sizes), Math.max(...sizes)];
    return most - least < 0.1 ? [] : [`code of ${least.toFixed(1)} and of ${most.toFixed(1)} px`];
  }

  /** Headings of tables that break within a Chinese word. */
  function brokenHeadings() {
    const isBroken = (cell) =>
      /^[\u4e00-\u9fff]+$/.test(cell.textContent) && boxOf(cell).height > 2.2 * sizeOf(cell) * unit;
    return all("th")
      .filter(isBroken)
      .map((cell) => `a heading is broken: ${name(cell)}`);
  }

  const code = all(".cm-content").length ? unequalCode() : [];
  return [...oddSizes(), ...ragged(), ...wastedRoom(), ...code, ...brokenHeadings()];
};
