/* Answers: one alone, and two side by side with the difference marked. */
(() => {
  "use strict";
  const tb = window.tiebreak;
  const { el } = tb;

  /** The text of a candidate's answer, or null where the log holds none. */
  tb.answer = (view, name) => {
    const place = view.story.answers?.[view.leader.get(name) ?? name];
    return place === undefined || place === null ? null : view.texts[place];
  };

  /** Every candidate's answer, folded up: written into the page when first opened. */
  tb.answerList = (view, names) =>
    names.map((name) => {
      const body = el("div");
      const text = tb.answer(view, name);
      const unfold = () => body.childNodes.length || body.append(answerBody(text));
      return el("details", { toggle: unfold }, el("summary", {}, tb.foreign(name)), body);
    });

  const answerBody = (text) => (text ? tb.block(text, "answer") : missing(text));

  const missing = (text) => {
    const why = text === null ? "The log holds no answer." : "The answer is empty.";
    return el("p", { class: "quiet" }, why);
  };

  let marking = true;

  /** The answers of candidates A and B side by side, under a heading of this level. */
  tb.sideBySide = (view, names, title, level) => {
    const heading = el(`h${level}`, { id: tb.newId() }, title);
    const texts = names.map((name) => tb.answer(view, name));
    const panels = names.map((name, at) => panel(heading, level + 1, "AB"[at], name, texts[at]));
    const bodies = panels.map((one) => one.querySelector(".answer"));
    const section = el("div", { class: "compare" }, heading, el("div", { class: "sides" }, panels));
    if (texts.includes(null) || texts[0] === texts[1]) {
      texts.forEach((text, at) =>
        text ? tb.write(bodies[at], text) : bodies[at].append(missing(text)),
      );
      if (!texts.includes(null))
        section.append(el("p", {}, "They are the same, letter for letter."));
      return section;
    }
    const found = tb.diff(...texts);
    const said = el("p", { class: "quiet" });
    const draw = () => {
      said.textContent = marking ? summary(found) : "Differences are not marked.";
      fill(bodies[0], found, "left", "del");
      fill(bodies[1], found, "right", "ins");
    };
    const box = el("input", { type: "checkbox", role: "switch" });
    box.checked = marking;
    box.addEventListener("change", () => {
      marking = box.checked;
      draw();
    });
    const marks = [el("del", {}, "only in A"), " ", el("ins", {}, "only in B")];
    const legend = el("span", { class: "legend" }, marks);
    const label = el("label", {}, box, " Mark differences");
    const bar = el("div", { class: "bar" }, label, legend, said);
    heading.after(bar);
    draw();
    return section;
  };

  function panel(above, level, letter, name, text) {
    const length = text === null ? "" : tb.count(tb.length(text), "character");
    const heading = el(`h${level}`, { id: tb.newId() }, tb.letter(letter), " ", tb.foreign(name));
    const named = `${above.id} ${heading.id}`;
    const region = { class: "read", tabindex: 0, role: "region", "aria-labelledby": named };
    const body = el("div", { class: "answer", dir: "auto" });
    const facts = el("p", { class: "quiet" }, length);
    return el("div", { class: "side" }, heading, facts, el("div", region, body));
  }

  function summary(segments) {
    const share = tb.unlike(segments);
    const whole = Math.round(share * 100);
    const percent =
      share < 0.01 ? "Less than 1" : whole === 100 && share < 1 ? "More than 99" : whole;
    const places = segments.filter((segment) => !segment.same).length;
    return `${percent}% of the text differs, in ${tb.count(places, "place")}.`;
  }

  function fill(body, segments, side, tag) {
    body.replaceChildren();
    for (const segment of segments) {
      const text = segment[side];
      if (!text) continue;
      if (segment.same || !marking) tb.write(body, text);
      else body.append(tb.write(el(tag), text));
    }
    if (!body.childNodes.length) body.append(missing(""));
  }

  /** Any two answers of an item, to choose from. */
  tb.chooseTwo = (view, names) => {
    if (names.length < 2) return null;
    const place = el("div");
    const pick = (label, first) => {
      const options = names.map((name, at) => el("option", { value: at }, tb.visible(name)));
      const select = el("select", {}, options);
      select.selectedIndex = first;
      select.addEventListener("change", show);
      return [el("label", {}, `${label} `, select), select];
    };
    const [labelA, a] = pick("Answer A", 0);
    const [labelB, b] = pick("Answer B", 1);
    function show() {
      const two = [names[a.selectedIndex], names[b.selectedIndex]];
      place.replaceChildren(tb.sideBySide(view, two, "Two answers of your choice", 4));
    }
    const shown = (event) => event.target.open && !place.childNodes.length && show();
    const bar = el("div", { class: "bar" }, labelA, labelB);
    const title = el("summary", {}, "Compare any two answers");
    return el("details", { toggle: shown }, title, bar, place);
  };

  /** The letter that stands for a side of a match. */
  tb.letter = (letter) => el("span", { class: `letter side-${letter.toLowerCase()}` }, letter);
})();
