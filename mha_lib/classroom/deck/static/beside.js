// What lies beside the lesson, such as course.css. It is looked up in the list of the folder: to ask for a file
// that is not there would be an error in the browser's console.

/** The address of each file in the folder of the lesson, by its name. */
export async function filesBeside(lesson, contents) {
  const folder = lesson.replace(/[^/]*$/, "");
  const { content } = await contents.get(folder);
  const files = content.filter(({ type }) => type === "file");
  const addresses = files.map(async ({ name }) => [name, await contents.getDownloadUrl(folder + name)]);
  return Object.fromEntries(await Promise.all(addresses));
}
