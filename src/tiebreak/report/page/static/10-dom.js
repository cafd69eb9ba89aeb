/* Elements and texts. Whatever comes from a log is foreign: it enters the page as text nodes only
 * (never as markup), isolated from the text around it, with invisible characters made visible. */
"use strict";

window.tiebreak = Object.create(null);

(() => {
  "use strict";
  const tb = window.tiebreak;

  // Controls, lone surrogates, line separators, bidi marks and whatever else a font draws nothing
  // for. Not: tab, newline, and the selectors that make an emoji colourful.
  const UNSEEN =
    /(?:(?![\t\n\ufe0e\ufe0f])[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Bidi_Control}\p{Default_Ignorable_Code_Point}\ufff9-\ufffb])+/gu;

  /** A visible sign for a character that has none: its code point, which every font can draw. */
  const sign = (character) =>
    `U+${character.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}`;

  /** A new element; children are nodes or strings (text), missing ones are left out. */
  tb.el = (tag, attributes, ...children) => {
    const node = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes ?? {})) {
      if (value === undefined || value === null || value === false) continue;
      if (typeof value === "function") node.addEventListener(name, value);
      else node.setAttribute(name, value === true ? "" : String(value));
    }
    node.append(...children.flat(2).filter((child) => child !== undefined && child !== null));
    return node;
  };

  /** Append foreign text to a node; runs of invisible characters become `span.sign`. */
  tb.write = (node, text) => {
    let start = 0;
    for (const found of text.matchAll(UNSEEN)) {
      const run = [...found[0]];
      node.append(text.slice(start, found.index));
      // `data-codes` keeps what really stands there: the text can be had back from the page.
      const codes = run.map((character) => character.codePointAt(0).toString(16)).join(" ");
      node.append(tb.el("span", { class: "sign", "data-codes": codes }, run.map(sign).join(" ")));
      start = found.index + found[0].length;
    }
    node.append(text.slice(start));
    return node;
  };

  /** A foreign name or sentence inside a line of our own. */
  tb.foreign = (text) => tb.write(tb.el("bdi"), String(text));

  /** Foreign text of several lines, set as written. */
  tb.block = (text, kind = "prose") => tb.write(tb.el("div", { class: kind, dir: "auto" }), text);

  /** Foreign text for where no element can stand: options, labels. */
  tb.visible = (text) => text.replace(UNSEEN, (run) => `‹${[...run].map(sign).join(" ")}›`);

  /** Names with commas between them. */
  tb.names = (names) => names.flatMap((name, at) => [at ? ", " : "", tb.foreign(name)]);

  /** That something has no result, and why. */
  tb.unscored = (why) => ["∅ unscored: ", tb.foreign(why)];

  /** What is folded under a title. */
  tb.fold = (title, ...children) => tb.el("details", {}, tb.el("summary", {}, title), children);

  /** A part of what is said about an item. */
  tb.section = (title, ...children) => tb.el("section", {}, tb.el("h3", {}, title), children);

  /** A number with its sign, or a dash where it is undefined. */
  tb.signed = (value) => {
    if (value === null || value === undefined) return "–";
    const shown = Math.abs(value).toFixed(2);
    if (Number(shown) === 0) return "0.00";
    return (value < 0 ? "−" : "+") + shown;
  };

  /** A number without trailing zeros, or a dash where it is undefined. */
  tb.number = (value) =>
    value === null || value === undefined ? "–" : String(Math.round(value * 1000) / 1000);

  /** Number of characters, as Python counts them. */
  tb.length = (text) => [...text].length;

  /** "1 item", "2 items". */
  tb.count = (n, word, plural = `${word}s`) =>
    `${n.toLocaleString("en")} ${n === 1 ? word : plural}`;

  let lastId = 0;
  /** An id that nothing else on the page has. */
  tb.newId = () => `tb-${(lastId += 1)}`;

  /** A table in a region of its own that scrolls sideways; rows are lists of cells, and a head is
   * a title, or `{number: title}` above numbers. */
  tb.table = (caption, heads, rows, foot = []) => {
    const id = tb.newId();
    const kind = (at) => (heads[at].number ? "num" : null);
    const head = heads.map((title, at) =>
      tb.el("th", { scope: "col", class: kind(at) }, title.number ?? title),
    );
    const data = (cell, at) =>
      tb.el(at ? "td" : "th", { scope: at ? null : "row", class: kind(at) }, cell);
    const row = (cells) => tb.el("tr", {}, cells.map(data));
    const table = tb.el(
      "table",
      {},
      tb.el("caption", { id }, tb.el("bdi", {}, caption)),
      tb.el("thead", {}, tb.el("tr", {}, head)),
      tb.el("tbody", {}, rows.map(row)),
      foot.length ? tb.el("tfoot", {}, foot.map(row)) : null,
    );
    const region = { class: "scroller", tabindex: 0, role: "region", "aria-labelledby": id };
    return tb.el("div", region, table);
  };
})();
