"use strict";
(() => {
  const all = document.getElementById("all");
  const folds = () => [...document.querySelectorAll("details")];

  // Opens everything, or closes it.
  function toggle() {
    const open = folds().some((fold) => !fold.open);
    for (const fold of folds()) fold.open = open;
    all.textContent = open ? "Close all" : "Open all";
    all.setAttribute("aria-pressed", String(open));
  }

  // What an address names is shown.
  function reveal() {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    const fold = target && target.closest("details");
    if (!fold) return;
    fold.open = true;
    fold.scrollIntoView();
    fold.querySelector("summary").focus({ preventScroll: true });
  }

  // The rung after the one that has the focus, or before.
  function go(by) {
    const rungs = [...document.querySelectorAll("details.rung")];
    if (!rungs.length) return;
    const now = rungs.findIndex((rung) => rung.contains(document.activeElement));
    const next = now < 0 ? (by > 0 ? 0 : rungs.length - 1) : Math.max(0, Math.min(rungs.length - 1, now + by));
    rungs[next].open = true;
    rungs[next].querySelector("summary").focus({ preventScroll: true });
    rungs[next].scrollIntoView();
  }

  all.addEventListener("click", toggle);
  window.addEventListener("hashchange", reveal);
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const keys = { j: () => go(1), k: () => go(-1), o: toggle };
    if (keys[event.key]) {
      event.preventDefault();
      keys[event.key]();
    }
  });
  // The browser goes to the address by itself first, and takes the focus along.
  window.addEventListener("load", () => setTimeout(reveal));
})();
