// Moves the explorers of the slide that is shown through their settings, and says which do not fit the slide or
// leave much of it empty; for decks.py. Sliders are tried at their ends.
async () => {
  const slide = document.querySelector("section.present > section.present");
  const foot = document.querySelector("#deck-foot").getBoundingClientRect();
  const faults = [];

  const choicesOf = (input) => {
    if (input.type === "checkbox") return [false, true];
    if (input.type === "text") return [input.value]; // what else could be typed is no list
    const [first, last] =
      input.type === "range" ? [Number(input.min), Number(input.max)] : [0, input.options.length - 1];
    return [...new Set([first, last])];
  };
  const settingsOf = (inputs) =>
    inputs.reduce(
      (settings, input) =>
        settings.flatMap((setting) => choicesOf(input).map((choice) => [...setting, choice])),
      [[]],
    );
  const isSet = (input, choice) =>
    input.type === "text" || (input.type === "checkbox" ? input.checked : Number(input.value)) === choice;
  const choose = (input, choice) => {
    if (isSet(input, choice)) return;
    input[input.type === "checkbox" ? "checked" : "value"] = choice;
    input.dispatchEvent(new Event("input"));
  };
  const drawn = async (root) => {
    do await new Promise(requestAnimationFrame);
    while (root.querySelector("[aria-busy=true]"));
  };

  const isSeen = (root) => root.checkVisibility({ visibilityProperty: true, opacityProperty: true });
  for (const root of [...slide.querySelectorAll(".mha-explorer")].filter(isSeen)) {
    const inputs = [...root.querySelectorAll("input, select")];
    for (const setting of settingsOf(inputs)) {
      for (const [index, input] of inputs.entries()) choose(input, setting[index]);
      await drawn(root);
      const box = root.getBoundingClientRect();
      const inner = [...root.querySelectorAll(":not([role=status] *)")].map((part) =>
        part.getBoundingClientRect(),
      );
      const low = Math.round(Math.max(box.bottom, ...inner.map(({ bottom }) => bottom)) - foot.top);
      const wide = Math.round(Math.max(box.right, ...inner.map(({ right }) => right)) - innerWidth);
      if (low > 1 || wide > 1)
        faults.push(`the explorer is ${low} px too low, ${wide} too wide at ${setting}`);
      const room = root.querySelector(".room");
      if (!room) continue; // it has no maps
      const maps = [...root.querySelectorAll("[role=application]")].map((map) => map.getBoundingClientRect());
      const share = (Math.max(...maps.map(({ right }) => right)) - box.left) / box.width;
      const height = box.height / room.getBoundingClientRect().height;
      if (share < 0.9 && height < 0.93)
        faults.push(`the maps reach neither the width (${share}) nor the height (${height}) at ${setting}`);
    }
  }
  return faults;
};
