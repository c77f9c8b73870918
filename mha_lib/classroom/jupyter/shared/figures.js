// Figures in steps. An empty group with the id step-1 ends the first step of such a drawing, and a rule in it hides
// what comes after the step that its address names: `figure.svg#step-1`. Without a step it shows all. The cell that
// shows it says under `steps` in its metadata how many there are. docs/en/write.md explains it.

/** Show a figure up to the step of this number. */
export function showStep(image, number) {
  const address = `${image.src.split("#")[0]}#step-${number}`;
  if (image.src !== address) image.src = address;
}

/** Put a slider below a figure, which shows all its steps until the slider moves, and on paper. */
export function addSlider(image, steps, ariaLabel) {
  const slider = document.createElement("input");
  Object.assign(slider, { type: "range", className: "figure-steps", min: 1, max: steps, ariaLabel });
  slider.value = steps;
  slider.oninput = () => showStep(image, slider.value);
  addEventListener("beforeprint", () => showStep(image, steps));
  addEventListener("afterprint", slider.oninput);
  image.after(slider);
}
