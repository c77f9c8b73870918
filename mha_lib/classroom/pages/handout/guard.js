// Nothing but the reader's own click leads away from this page, where the browser can be asked to see to it.
// It stands before all that the notebook's author wrote.
globalThis.navigation?.addEventListener("navigate", (event) => {
  const { url, sameDocument } = event.destination;
  const isSaved = event.downloadRequest !== null && /^(blob|data):/.test(url);
  if (event.cancelable && !event.userInitiated && !sameDocument && !isSaved) event.preventDefault();
});
