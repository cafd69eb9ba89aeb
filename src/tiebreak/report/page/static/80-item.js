/* The view of one item: a dialog over the page, addressed by its id as #item-gsm8k-q7, or as
 * #item-gsm8k-q7-run-1-match-3 for a match of one of its runs (which count from 0). */
(() => {
  "use strict";
  const tb = window.tiebreak;
  const { el } = tb;
  const PLACE = /^#item-(.+?)(?:-run-(\d+))?(?:-match-(\d+))?$/;
  // Where the items stand in the index, by their addresses.
  const places = new Map();

  const title = el("h2", { id: "item-title", tabindex: -1 });
  const body = el("div", { class: "item-body" });
  const before = el("button", { type: "button", click: () => step(-1) }, "← Previous item");
  const after = el("button", { type: "button", click: () => step(1) }, "Next item →");
  const close = el("button", { type: "button", class: "close", click: () => leave() }, "Close");
  const bar = el("div", { class: "item-bar" }, before, after, close);
  const dialog = el("dialog", { id: "item", "aria-labelledby": "item-title" }, bar, title, body);

  // What the address says: an item, perhaps one of its runs and a match of it; null is the report.
  let here = null;
  // Whether Back leads to the report, because it is from there that the item was opened.
  let fromReport = false;

  function address() {
    if (places.has(location.hash)) return { at: location.hash, run: null, match: null };
    const found = PLACE.exec(location.hash);
    if (!found || !places.has(`#item-${found[1]}`)) return null;
    const [run, match] = found
      .slice(2)
      .map((part) => (part === undefined ? null : Number(part)));
    return { at: `#item-${found[1]}`, run, match };
  }

  const spell = ({ at, run, match }) =>
    at +
    (run === null ? "" : `-run-${run}`) +
    (match === null ? "" : `-match-${match}`);

  const note = () => history.replaceState(history.state, "", spell(here));

  tb.noteMatch = (match) => {
    here = { ...here, run: here.run ?? 0, match };
    note();
  };

  /** Make the page show what its address says; `stepped` if our own buttons changed that. */
  function route(stepped) {
    const wanted = address();
    const same = wanted && here && spell(wanted) === spell(here);
    if (same) return;
    const left = here;
    here = wanted;
    // Who wrote another item into the address has put it between this one and the report.
    if (left && !stepped) fromReport = false;
    if (wanted) show();
    else if (left) shut(left.at);
  }

  async function show() {
    const { at } = here;
    const place = places.get(at);
    const known = tb.index.items[place];
    title.replaceChildren(tb.foreign(known.benchmark), " · ", tb.foreign(known.id));
    before.disabled = neighbour(-1) === null;
    after.disabled = neighbour(1) === null;
    body.replaceChildren(el("p", { role: "status" }, "Unpacking…"));
    if (!dialog.open) {
      dialog.showModal();
      document.documentElement.classList.add("reading");
    }
    dialog.scrollTop = 0;
    title.focus({ preventScroll: true });
    try {
      const entry = await tb.load(place);
      if (here?.at !== at) return;
      if (!entry) throw new Error("the report holds nothing about it");
      body.replaceChildren(...content(entry));
    } catch (error) {
      if (here?.at !== at) return;
      const said = ` This item cannot be shown: ${error.message}`;
      const alert = { class: "warning", role: "alert" };
      body.replaceChildren(el("p", alert, el("strong", {}, "Error"), said));
    }
  }

  function content(entry) {
    const parts = [];
    const folds = [
      ["The task", entry.task, true],
      ["The expected answer", entry.target, false],
    ];
    for (const [name, text, open] of folds)
      if (text)
        parts.push(
          el("details", { open, class: "task" }, el("summary", {}, name), tb.block(text, "answer")),
        );
    const stories = entry.stories ?? [];
    if (!stories.length) parts.push(el("p", {}, "No run has judged it."));
    else parts.push(tabs(entry, stories));
    return parts;
  }

  /** One tab per run (https://www.w3.org/WAI/ARIA/apg/patterns/tabs/); a lone run needs none. */
  function tabs(entry, stories) {
    const panel = el("div", { id: "item-panel", class: "panel" });
    const chips = stories.map((story, at) => {
      const attributes = {
        type: "button",
        role: "tab",
        id: `item-tab-${at}`,
        "aria-controls": "item-panel",
      };
      return el("button", { ...attributes, click: () => choose(at, true) }, ...runName(story));
    });
    function choose(at, noted) {
      chips.forEach((chip, own) => {
        chip.setAttribute("aria-selected", own === at);
        chip.tabIndex = own === at ? 0 : -1;
      });
      if (noted) {
        here = { at: here.at, run: at, match: null };
        note();
      }
      const view = tb.view(entry, stories[at]);
      const nodes = [runLine(stories[at]), inView(stories[at]), ...tb.storyPanel(view)].flat(2).filter(Boolean);
      panel.replaceChildren(...nodes);
      if (stories.length > 1) panel.setAttribute("aria-labelledby", chips[at].id);
      const { match } = here;
      const linked = match !== null && stories[at].ballots.matches?.[match];
      // Only what is in the page already can be scrolled to.
      if (linked) requestAnimationFrame(() => view.openMatch(match, false));
    }
    const list = el("div", { role: "tablist", "aria-label": "Runs that judged this item" }, chips);
    list.addEventListener("keydown", (event) => {
      const at = chips.indexOf(document.activeElement);
      const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: chips.length - 1 }[
        event.key
      ];
      if (at < 0 || to === undefined) return;
      event.preventDefault();
      const next = (to + chips.length) % chips.length;
      choose(next, true);
      chips[next].focus();
    });
    const first = here.run !== null && stories[here.run] ? here.run : 0;
    choose(first, false);
    if (stories.length === 1) return panel;
    panel.setAttribute("role", "tabpanel");
    panel.tabIndex = 0;
    return el("div", { class: "runs" }, list, panel);
  }

  function runName(story) {
    const name = tb.foreign(tb.index.runs[story.run]?.name ?? `run ${story.run + 1}`);
    return story.epoch > 1 ? [name, `, epoch ${story.epoch}`] : [name];
  }

  function runLine(story) {
    const run = tb.index.runs[story.run];
    if (!run) return null;
    const judges = tb.names(run.judges ?? []);
    const asked = judges.length ? [" · judged by ", ...judges] : [" · no call"];
    const log = run.log ? [" · log ", tb.foreign(run.log)] : [];
    return el("p", { class: "subtitle" }, "Protocol ", tb.foreign(run.protocol), asked, log);
  }

  // Where Inspect's viewer runs unless it is told otherwise.
  const VIEWER = "http://127.0.0.1:7575/#/logs";

  /** The sample in Inspect's own viewer: the page does not know in which folder its log lies. */
  function inView({ log, sample, epoch }) {
    // Half a character, which no address can hold, is in no id of a harness.
    if (!log || !sample || /\p{Cs}/u.test(log + sample)) return null;
    const place = [log, "samples", "sample", sample, epoch].map(encodeURIComponent).join("/");
    const attributes = { href: `${VIEWER}/${place}/`, target: "_blank", rel: "noopener" };
    const link = el("a", attributes, "Open in Inspect View");
    const when = [" (where it runs on the folder of ", tb.foreign(log), ")"];
    const said = epoch > 1 ? `, epoch ${epoch}` : "";
    return el("p", { class: "subtitle" }, link, ": sample ", tb.foreign(sample), said, when);
  }

  /** The item before or after in the table's own order, among the rows that the filter shows. */
  function neighbour(direction) {
    const links = [...document.querySelectorAll("#items-table tbody tr:not([hidden]) a")];
    const at = links.findIndex((link) => link.hash === here.at);
    return at < 0 ? null : (links[at + direction]?.hash ?? null);
  }

  function step(direction) {
    const next = neighbour(direction);
    if (next === null) return;
    history.replaceState(history.state, "", next);
    route(true);
  }

  /** Close by hand: Back where that leads to the report, else on to the report. */
  function leave() {
    if (fromReport) history.back();
    else {
      history.replaceState(null, "", "#items");
      route(true);
    }
  }

  function shut(at) {
    dialog.close();
    document.documentElement.classList.remove("reading");
    body.replaceChildren();
    fromReport = false;
    const link = document.querySelector(`#items-table a[href="${at}"]`);
    // It may be a row of a long table that is not shown yet.
    link?.closest("tr").classList.remove("later");
    // After the browser itself has moved the focus to where the address leads.
    requestAnimationFrame(() => here === null && link?.focus());
  }

  /** A page that was sent without what lies beside it says so at once, above its items. */
  async function lookBeside() {
    if (!tb.index.files.length) return;
    try {
      await tb.load(0);
    } catch (error) {
      const said = ` Items can be listed, but not opened: ${error.message}.`;
      const note = el("p", { class: "warning", role: "status" }, el("strong", {}, "Missing"), said);
      document.querySelector("#items .lead").after(note);
    }
  }

  tb.wireItems = () => {
    if (!tb.index.items.length) return;
    for (const link of document.querySelectorAll("#items-table a"))
      places.set(link.hash, Number(link.dataset.item));
    document.body.append(dialog);
    lookBeside();
    dialog.addEventListener("cancel", (event) => {
      event.preventDefault();
      leave();
    });
    document.addEventListener("click", (event) => {
      const link = event.target.closest?.("#items-table a");
      if (link && here === null && !event.ctrlKey && !event.metaKey && !event.shiftKey)
        fromReport = true;
    });
    window.addEventListener("hashchange", () => route(false));
    window.addEventListener("popstate", () => route(false));
    route(false);
  };
})();
