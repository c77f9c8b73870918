// Keeps the choices in this browser. Where nothing can be kept, they last as long as the page is open.
const form = document.querySelector("form");
const place = `mha questions ${form.id} ${document.documentElement.lang}`;

/** Browsers that forbid a page its storage raise an error. */
const ifAllowed = (use) => {
  try {
    use();
    return true;
  } catch {
    return false;
  }
};

const show = () => {
  const kept = JSON.parse(localStorage.getItem(place) ?? "{}");
  for (const [name, value] of Object.entries(kept)) {
    form.elements[name].value = value;
  }
};
const keep = () => localStorage.setItem(place, JSON.stringify(Object.fromEntries(new FormData(form))));

document.querySelector(".kept span").hidden = !ifAllowed(show);
form.addEventListener("change", () => ifAllowed(keep));
form.addEventListener("reset", () => ifAllowed(() => localStorage.removeItem(place)));
