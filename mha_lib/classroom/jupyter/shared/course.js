// The files of the course that a lesson needs: course.css, and course.json with the address of the handouts.

export const SETTINGS = "course.json";

/**
 * The folder of the lessons from which a copy was made: notebooks/<language>, or build/<language> for lessons that a
 * program makes, in a folder above the copy. Null where there is none. Folders are looked up in the list of the folder
 * above them, and files in that of theirs: to ask for what is not there would be an error in the browser's console.
 */
export async function lessonsOf({ language }, path, contents) {
  const parts = path.split("/").slice(0, -1);
  for (let depth = 0; depth <= parts.length; depth++) {
    const root = parts.slice(0, depth).join("/");
    const above = await namesIn(root, contents);
    for (const name of ["notebooks", "build"].filter((each) => above.includes(each))) {
      const folder = root ? `${root}/${name}` : name;
      if ((await namesIn(folder, contents)).includes(language)) return `${folder}/${language}`;
    }
  }
  return null;
}

async function namesIn(folder, contents) {
  const { content } = await contents.get(folder);
  return content.map(({ name }) => name);
}

/**
 * The address of each file beside the lesson, by its name. A student's copy holds lessons alone: the files of the course
 * lie where it was made from.
 */
export async function filesOf(identity, path, contents) {
  const beside = await filesIn(path.replace(/\/?[^/]*$/, ""), contents);
  if (beside[SETTINGS] || !identity) return beside;
  const lessons = await lessonsOf(identity, path, contents).catch(() => null); // in no course
  return lessons === null ? beside : { ...(await filesIn(lessons, contents)), ...beside };
}

async function filesIn(folder, contents) {
  const { content } = await contents.get(folder);
  const files = content.filter(({ type }) => type === "file");
  const addresses = files.map(async ({ name, path }) => [name, await contents.getDownloadUrl(path)]);
  return Object.fromEntries(await Promise.all(addresses));
}
