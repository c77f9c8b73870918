"""Texts as notebooks of others have them, and the contrast in which they are shown."""

SUM = "+".join(f"x_{{{number}}}^2" for number in range(60))
COLOURS = """<span style="color: black">one</span> <b style="background-color: #ffffaa">two</b>

<div style="background-color: white">three <code>four</code></div>"""
# The contrast of a text and what lies behind it, as WCAG counts it.
CONTRAST = """(part) => {
    const paint = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
    const light = (colour) => {
        paint.fillStyle = colour;
        paint.fillRect(0, 0, 1, 1);
        const parts = [...paint.getImageData(0, 0, 1, 1).data].slice(0, 3).map((value) => value / 255);
        const [r, g, b] = parts.map((value) => ((value + 0.055) / 1.055) ** 2.4); // but for the darkest
        return 0.2126 * r + 0.7152 * g + 0.0722 * b + 0.05;
    };
    let ground = part;
    while (getComputedStyle(ground).backgroundColor === "rgba(0, 0, 0, 0)") ground = ground.parentElement;
    const both = [light(getComputedStyle(part).color), light(getComputedStyle(ground).backgroundColor)];
    return Math.max(...both) / Math.min(...both);
}"""
