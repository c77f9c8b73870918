// The difference of two texts, line by line.

/** A page's elements: the lines that both have, those that only the student has, and those of the lesson alone. */
export function differenceOf(mine, lesson) {
  const node = document.createElement("pre");
  node.className = "mha-difference";
  for (const [tag, line] of compareLines(mine.split("\n"), lesson.split("\n")))
    node.append(Object.assign(document.createElement(tag), { textContent: `${line}\n` }));
  return node;
}

/** The lines in order, each with "span" (in both), "del" (in the old text alone) or "ins" (in the new one). */
export function compareLines(old, now) {
  // common[i][j]: how many lines the ends old[i:] and now[j:] have in common, in order
  const common = Array.from({ length: old.length + 1 }, () => new Array(now.length + 1).fill(0));
  for (let i = old.length - 1; i >= 0; i--)
    for (let j = now.length - 1; j >= 0; j--)
      common[i][j] =
        old[i] === now[j] ? common[i + 1][j + 1] + 1 : Math.max(common[i + 1][j], common[i][j + 1]);
  const lines = [];
  let [i, j] = [0, 0];
  while (i < old.length || j < now.length) {
    if (i < old.length && j < now.length && old[i] === now[j]) {
      lines.push(["span", old[i]]);
      i += 1;
      j += 1;
    } else if (j === now.length || (i < old.length && common[i + 1][j] >= common[i][j + 1]))
      lines.push(["del", old[i++]]);
    else lines.push(["ins", now[j++]]);
  }
  return lines;
}
