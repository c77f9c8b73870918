// Runs in the speaker's window, which lives on when the deck is loaded anew. It hands the window over to the deck
// in the tab that has opened it, and lets the page say so while there is no deck.

const LOOK_EVERY = 200; // ms

function isAdopted() {
  try {
    return window.opener.mhaDeck.adopt(window);
  } catch {
    return false; // the deck is not there yet, the tab is closed, or it shows another site
  }
}

setInterval(() => document.body.toggleAttribute("data-alone", !isAdopted()), LOOK_EVERY);
