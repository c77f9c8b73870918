// Shows on the title slide where the class finds its handouts.
import { sections } from "./stage.js";

/** Show the address of the handouts and its QR code, if the copy carries them. */
export function showHandouts(handouts, words) {
  if (!handouts) return;
  const figure = Object.assign(document.createElement("figure"), { id: "deck-handouts" });
  const textContent = handouts.address.replace(/^https?:\/\/|\/$/g, "");
  const picture = { src: handouts.code, alt: words.handouts_code };
  figure.append(Object.assign(document.createElement("img"), picture));
  figure.append(Object.assign(document.createElement("figcaption"), { textContent }));
  sections()[0].append(figure);
}
