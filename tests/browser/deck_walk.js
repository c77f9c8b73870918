// biome-ignore-all lint/performance/useDomNodeTextContent: what matters is the text that the class sees
// What is wrong with the slide that is shown, as a list of sentences; for test_deck.py.
() => {
  const slide = document.querySelector("section.present > section.present");
  const all = (selector) =>
    [...slide.querySelectorAll(selector)].filter((node) =>
      node.checkVisibility({ visibilityProperty: true }),
    );
  const faults = [];
  const name = (node) =>
    node.closest(".jp-Cell")?.innerText.trim().slice(0, 40).replace(/\s+/g, " ") ?? node.tagName;
  const foot = document.querySelector("#deck-foot").getBoundingClientRect();

  for (const cell of all(".jp-Cell")) {
    const parts = [cell, ...cell.querySelectorAll(".jp-MarkdownOutput > *, .jp-MarkdownOutput img")];
    const boxes = parts.map((part) => part.getBoundingClientRect()).filter((box) => box.height);
    const low = Math.round(Math.max(...boxes.map((box) => box.bottom)) - foot.top);
    if (low > 1) faults.push(`${low} px too low: ${name(cell)}`);
    if (boxes.some((box) => box.right > innerWidth + 1 || box.left < 0 || box.top < 0))
      faults.push(`off the screen: ${name(cell)}`);
  }
  for (const node of all(
    ".cm-scroller, .jp-OutputArea-output, .jp-OutputArea-output pre, .jp-RenderedHTMLCommon",
  )) {
    const [wide, high] = [node.scrollWidth - node.clientWidth, node.scrollHeight - node.clientHeight];
    if (node.clientWidth && (wide > 2 || high > 2))
      faults.push(`cut off by ${wide} x ${high} px: ${name(node)}`);
  }
  const sizes = [
    [24, ".jp-MarkdownOutput :is(p, li, td)"],
    [18, ".cm-content, .jp-OutputArea-output :is(pre, p, td):not(.jupyter-widgets *, .mha-explorer *)"],
  ];
  for (const [least, selector] of sizes)
    for (const node of all(selector))
      if (parseFloat(getComputedStyle(node).fontSize) < least)
        faults.push(`smaller than ${least} px: ${name(node)}`);
  for (const node of all("[data-mime-type$=error], [data-mime-type$=stderr]"))
    faults.push(`error output: ${node.innerText.slice(0, 80)}`);
  for (const node of all("mjx-merror")) faults.push(`a formula with an error: ${name(node)}`);
  for (const node of all(".jp-RenderedHTMLCommon :not(code, pre, pre *)"))
    if ([...node.childNodes].some((child) => child.nodeType === Node.TEXT_NODE && child.data.includes("$")))
      faults.push(`a raw $: ${name(node)}`);
  for (const image of all("img"))
    if (image.complete && !image.naturalWidth) faults.push(`a broken image: ${image.src.slice(0, 80)}`);
  for (const node of all(".jp-RenderedText, .jupyter-widgets"))
    if (
      /^\s*(\w+\((children|value|layout)=|<[\w.]+ object at 0x)|Error displaying widget|Loading widget/.test(
        node.innerText,
      )
    )
      faults.push(`a widget as text: ${node.innerText.slice(0, 60)}`);
  return faults;
};
