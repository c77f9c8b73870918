// To the language that the reader's browser asks for. The pages of the languages never lead back here by
// themselves, so there is no loop; without a script the links on this page do.
const links = [...document.querySelectorAll("a[hreflang]")];
const known = links.map((link) => link.hreflang);
/** Its names from the exact one to the widest: zh-TW, then zh-Hant, then zh. A system's "C" is no language. */
const namesOf = (tag) => {
  try {
    const { language, script } = new Intl.Locale(tag).maximize();
    return [tag, `${language}-${script}`, language];
  } catch {
    return [tag];
  }
};
const wanted = navigator.languages.flatMap(namesOf).find((name) => known.includes(name));
const link = links[known.indexOf(wanted)] ?? links[0];
location.replace(link.href + location.hash);
