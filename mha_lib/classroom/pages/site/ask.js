// The policy of these pages lets no form be sent: this script leads to the page that searches.
const form = document.querySelector("form[role=search]");
form.hidden = false;
form.addEventListener("submit", (event) => {
  event.preventDefault();
  location.href = `search.html?q=${encodeURIComponent(form.q.value)}`;
});
