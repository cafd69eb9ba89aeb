/* One match: how it was decided, the votes of every order, the checklist that was in force, and the
 * two answers. A is the match's `high`, B its `low`; margins are turned so that + is for A. */
(() => {
  "use strict";
  const tb = window.tiebreak;
  const { el } = tb;

  tb.matchDetail = (view, match) => {
    const { ballots } = view.story;
    const heading = el(
      "h4",
      { id: tb.newId(), tabindex: -1 },
      `${tb.roundName(ballots, match.round)}: `,
      tb.letter("A"),
      " ",
      tb.foreign(match.high),
      " – ",
      tb.letter("B"),
      " ",
      tb.foreign(match.low),
    );
    return el(
      "section",
      { class: "match-detail", "aria-labelledby": heading.id },
      heading,
      verdictLines(view, match),
      votesTable(view, match),
      discarded(match),
      match.critique
        ? tb.fold("Critique of both answers, written before the verdict", tb.block(match.critique))
        : null,
      tb.checklist(view, match),
      tb.sideBySide(view, [match.high, match.low], "The two answers", 5),
    );
  };

  function verdictLines(view, match) {
    const lines = [el("li", {}, ...decision(view, match))];
    if (match.flipped === true)
      lines.push(el("li", { class: "flip" }, "⇄ Flipped: the two orders named different winners."));
    else if (match.flipped === false)
      lines.push(
        el("li", {}, "Both orders of presentation were asked, and did not contradict each other."),
      );
    else if (scored(match).length === 1)
      lines.push(el("li", {}, "Scored in one order of presentation only."));
    if (scored(match).length)
      lines.push(
        el(
          "li",
          {},
          `Margin of the principles ${tb.signed(match.margin)}, of the checklist `,
          `${tb.signed(match.checklist_margin)} (+ is for A; mean over the orders, from −1 to +1).`,
        ),
      );
    return el("ul", { class: "lines" }, lines);
  }

  const scored = (match) => (match.verdicts ?? []).filter((one) => (one.margin ?? null) !== null);

  function decision(view, match) {
    const letter = match.winner === match.high ? "A" : "B";
    const goesOn = tb.isBracket(view.story.ballots) ? " The better seed, A, goes on." : "";
    if (match.decided_by === "principles")
      return [tb.letter(letter), " won: the principles decided."];
    if (match.decided_by === "checklist")
      return [tb.letter(letter), " won: the principles were even, the checklist decided."];
    if (match.decided_by === "votes") return [tb.letter(letter), " won: people's votes decided."];
    if (match.decided_by === "tie" && view.story.ballots.protocol === "votes")
      return ["A tie: people's votes are even."];
    if (match.decided_by === "tie") return [`A tie: principles and checklist are even.${goesOn}`];
    const why = [...(match.verdicts ?? []), ...(match.discarded ?? [])].find((one) => one.unscored);
    return [
      "∅ Unscored, which is no tie: ",
      why ? tb.foreign(why.unscored) : "no judge reply",
      `.${goesOn}`,
    ];
  }

  function votesTable(view, match) {
    const orders = match.verdicts ?? [];
    if (!orders.length) return null;
    const layers = [
      ["principles", principles(view)],
      ["checklist", items(view)],
    ];
    const rows = layers.flatMap(([layer, known]) => {
      const voted = orders.flatMap((verdict) => Object.keys(verdict[layer] ?? {}));
      const ids = [...new Set([...known.keys(), ...voted])].filter((id) => voted.includes(id));
      return ids.map((id) => [
        criterion(id, known.get(id), layer),
        ...orders.map((verdict) => voteCell(view, match, verdict, verdict[layer]?.[id])),
      ]);
    });
    const heads = orders.map((verdict, at) => {
      const letter = verdict.first === match.high ? "A" : "B";
      const order = orders.length > 1 ? `Order ${at + 1}: ` : "";
      const who = verdict.judge ? [tb.foreign(verdict.judge), ": "] : order;
      return [who, tb.letter(letter), " shown first"];
    });
    const margin = (title, field) => [
      title,
      ...orders.map((verdict) => el("strong", {}, tb.signed(turned(match, verdict, field)))),
    ];
    const people = view.story.ballots.protocol === "votes";
    const foot = people
      ? [margin("Vote: +1 for A, −1 for B", "margin")]
      : [
          margin("Margin of the principles, + for A", "margin"),
          margin("Margin of the checklist, + for A", "checklist_margin"),
        ];
    const unscored = orders.map((verdict) => verdict.unscored);
    if (unscored.some(Boolean))
      foot.unshift(["Unscored", ...unscored.map((why) => (why ? ["∅ ", tb.foreign(why)] : "–"))]);
    return tb.table(
      people ? "People's votes" : "Votes and how sure the judge was (0 to 1)",
      ["Criterion", ...heads],
      rows,
      foot,
    );
  }

  function turned(match, verdict, field) {
    const value = verdict[field] ?? null;
    return value === null || verdict.first === match.high ? value : -value;
  }

  const principles = (view) => new Map((view.rubric?.principles ?? []).map((one) => [one.id, one]));

  /** All checklist items by id; a match shows those that were voted on. */
  function items(view) {
    const added = (view.story.ballots.refinements ?? []).filter(
      (one) => one.item_id && !one.duplicate_of,
    );
    const grown = added.map((one) => ({ id: one.item_id, principle: one.principle_id, ...one }));
    return new Map([...(view.rubric?.checklist ?? []), ...grown].map((one) => [one.id, one]));
  }

  function criterion(id, known, layer) {
    const name = known?.name ?? known?.description ?? "";
    const weight = layer === "principles" && known ? `weight ${tb.number(known.weight)}` : null;
    const grounded = known?.principle ? ["checklist, of ", tb.foreign(known.principle)] : null;
    return [
      el("span", { class: "id" }, tb.foreign(id)),
      " ",
      tb.foreign(name),
      el("span", { class: "quiet under" }, weight ?? grounded ?? ""),
    ];
  }

  function voteCell(view, match, verdict, vote) {
    if (!vote) return "–";
    const first = verdict.first === match.high ? "A" : "B";
    const second = first === "A" ? "B" : "A";
    const side = { left: first, right: second }[vote.vote];
    const sure = el("span", { class: "sure" }, tb.number(vote.confidence));
    const said = side ? tb.letter(side) : el("span", { class: "letter even" }, "tie");
    const why = view.texts[vote.reasoning];
    return [said, " ", sure, why ? tb.block(why, "reasoning") : null];
  }

  function discarded(match) {
    if (!match.discarded?.length) return null;
    const why = match.discarded.map((one) => {
      const letter = tb.letter(one.first === match.high ? "A" : "B");
      return el("li", {}, letter, " shown first: ", tb.foreign(one.unscored ?? "no reason kept"));
    });
    const title = tb.count(match.discarded.length, "unscored reply", "unscored replies");
    return tb.fold(`Discarded: ${title}, asked again`, el("ul", {}, why));
  }

  /** The checklist up to this match: seed items, then every refinement with its demonstration. */
  tb.checklist = (view, match) => {
    const { ballots } = view.story;
    const seeds = view.rubric?.checklist ?? [];
    const earlier = (ballots.refinements ?? []).filter((one) => one.round < match.round);
    const own = (ballots.refinements ?? []).filter(
      (one) => one.round === match.round && one.slot === match.slot,
    );
    if (!seeds.length && !earlier.length && !own.length) return null;
    const added = earlier.filter((one) => one.item_id && !one.duplicate_of).length;
    const body = [];
    if (seeds.length)
      body.push(
        tb.table(
          "Seed items, the same for every item",
          ["Item", "Principle", "What it asks"],
          seeds.map((one) => [one.id, one.principle, one.description].map(tb.foreign)),
        ),
      );
    body.push(...earlier.map((one) => refinement(view, one)));
    const title = `Checklist in force: ${tb.count(seeds.length, "seed item")}, ${added} added in earlier rounds`;
    const after = own.map((one) => refinement(view, one));
    const learned = "What the checklist learned from this match";
    return [tb.fold(title, body), after.length ? tb.fold(learned, after) : null];
  };

  function refinement(view, one) {
    const { ballots } = view.story;
    const from = ballots.matches.find((m) => m.round === one.round && m.slot === one.slot);
    const where = from ? [" – ", tb.foreign(from.high), " against ", tb.foreign(from.low)] : [];
    const origin = el("p", { class: "quiet" }, `After ${tb.roundName(ballots, one.round)}`, where);
    if (one.unscored) {
      const none = el("p", {}, "∅ No new item: ", tb.foreign(one.unscored));
      return el("div", { class: "refinement" }, origin, none);
    }
    const facts = [
      ["What tells the answers apart", one.differentiator],
      ["The better answer", one.higher_snippet],
      ["The other answer", one.lower_snippet],
      ["Anchor", one.anchor_split && `${one.anchor_split} points`],
    ].filter(([, text]) => text);
    const named = [tb.foreign(one.item_id), " (", tb.foreign(one.principle_id), ") "];
    const name = [named, tb.foreign(one.description)];
    const twin = one.duplicate_of
      ? el("p", {}, "Not added: it says the same as ", tb.foreign(one.duplicate_of), ".")
      : null;
    const list = facts.flatMap(([title, text]) => [
      el("dt", {}, title),
      el("dd", {}, tb.block(text)),
    ]);
    const heading = el("p", {}, el("strong", {}, name));
    return el("div", { class: "refinement" }, heading, origin, twin, el("dl", {}, list));
  }
})();
