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

  tb.wireTables();
  tb.wireItems();
  followReading();
})();
