// To the lesson, at the place in it that the old address named; without a script the link on this page leads there.
location.replace(document.querySelector("a[href]").href + location.hash);
