/* Start: wire what the HTML already holds, and tell the reader where in the report they are. */
(() => {
  "use strict";
  const tb = window.tiebreak;

  function followReading() {
    const links = new Map();
    for (const link of document.querySelectorAll(".contents > ol > li > a")) {
      const section = document.getElementById(link.hash.slice(1));
      if (section) links.set(section, link);
    }
    const seen = new Set();
    const watch = new IntersectionObserver(
      (changes) => {
        for (const { target, isIntersecting } of changes) {
          if (isIntersecting) seen.add(target);
          else seen.delete(target);
        }
        const current = [...links.keys()].find((section) => seen.has(section));
        for (const [section, link] of links) {
          if (section === current) link.setAttribute("aria-current", "true");
          else link.removeAttribute("aria-current");
        }
      },
      { rootMargin: "-10% 0px -60% 0px" },
    );
    for (const section of links.keys()) watch.observe(section);
  }

  /** Unfold what the address names, what it is in, and what it is the heading of. */
  function unfold() {
    const target = document.getElementById(location.hash.slice(1));
    if (!target) return;
    const folds = target.matches(".part") ? [...target.querySelectorAll(":scope > details")] : [];
    for (let at = target; at; at = at.parentElement) if (at.matches("details")) folds.push(at);
    for (const fold of folds) fold.open = true;
    if (folds.length) target.scrollIntoView();
  }

  /** On paper nothing can be unfolded: it is before, and folded again after. The answer alone is
   * printed, unless a reader asks for all. */
  function wirePrinting() {
    let opened = [];
    const all = document.documentElement.classList;
    const printAll = () => {
      all.add("all");
      window.print();
    };
    const footer = document.querySelector("footer p");
    footer.append(" ", tb.el("button", { type: "button", click: printAll }, "Print all of it"));
    window.addEventListener("beforeprint", () => {
      opened = [...document.querySelectorAll("details:not([open])")];
      for (const fold of opened) fold.open = true;
    });
    window.addEventListener("afterprint", () => {
      for (const fold of opened) fold.open = false;
      all.remove("all");
    });
  }

  tb.wireTables();
  tb.wireItems();
  followReading();
  wirePrinting();
  window.addEventListener("hashchange", unfold);
  // Also where the address stays: a link to what was folded again by hand.
  document.addEventListener("click", (event) => {
    const link = event.target.closest?.("main a, nav a");
    if (link?.hash && link.hash === location.hash) unfold();
  });
  unfold();
})();
