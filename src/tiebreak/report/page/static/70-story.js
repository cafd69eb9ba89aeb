/* How one run judged an item: its ranking, seeding, matches, reviews and grades. */
(() => {
  "use strict";
  const tb = window.tiebreak;
  const { el } = tb;

  /** What the functions of a story need: `story` and its texts, rubric, and who stands for whom. */
  tb.view = (entry, story) => {
    const leader = new Map();
    for (const group of story.ballots.groups ?? [])
      for (const name of group) leader.set(name, group[0]);
    const rubric = tb.index.rubrics[story.rubric] ?? null;
    return { story, texts: entry.texts ?? [], rubric, leader, openMatch: () => {} };
  };

  tb.storyPanel = (view) => {
    const names = ranked(view);
    return [
      state(view.story),
      standing(view, names),
      seeding(view.story.ballots),
      tb.matches(view),
      reviews(view.story.ballots),
      grades(view),
      el(
        "section",
        { class: "answers" },
        el("h3", {}, "The answers"),
        tb.answerList(view, leaders(view, names)),
        tb.chooseTwo(view, leaders(view, names)),
      ),
    ];
  };

  /** Why an item has no ranking, or no call. */
  function state({ ballots, unranked }) {
    const note = (...text) => el("p", { class: "warning" }, el("strong", {}, "Note"), " ", ...text);
    if (unranked) return note("This item is not ranked: ", tb.foreign(unranked), ".");
    if (ballots.groups?.length > 1) return null;
    return el("p", {}, "All answers are identical: nobody was asked.");
  }

  function ranked(view) {
    const ranks = view.story.ranks ?? {};
    const of = (name) => ranks[name] ?? Infinity;
    // Infinity − Infinity is not a number: those without a rank stay in their order.
    return [...(view.story.ballots.models ?? [])].sort((a, b) => of(a) - of(b) || 0);
  }

  /** One name for each answer: that of its group's first. */
  const leaders = (view, names) => [...new Set(names.map((name) => view.leader.get(name) ?? name))];

  function standing(view, names) {
    const { ballots } = view.story;
    const groups = new Map((ballots.groups ?? []).map((group) => [group[0], group]));
    const shared = (ballots.groups ?? []).some((group) => group.length > 1);
    const rows = names.map((name) => {
      const text = tb.answer(view, name);
      const twins = (groups.get(view.leader.get(name)) ?? []).filter((other) => other !== name);
      const cells = [
        tb.foreign(name),
        tb.number(view.story.ranks?.[name]),
        tb.number(ballots.native?.[name]),
        text === null ? "–" : tb.length(text).toLocaleString("en"),
      ];
      if (shared) cells.push(twins.length ? tb.names(twins) : "–");
      return cells;
    });
    const heads = [
      "Model",
      { number: "Rank" },
      { number: "Native score" },
      { number: "Length" },
      ...(shared ? ["Same answer as"] : []),
    ];
    return tb.table("Ranking of this item (1 = best; ties share the mean rank)", heads, rows);
  }

  function seeding(ballots) {
    const tiering = ballots.tiering;
    if (!tiering) return null;
    if (tiering.unscored) {
      const said = "∅ Seeding unscored, so the seeds were drawn by lot: ";
      return el("p", {}, said, tb.foreign(tiering.unscored));
    }
    const tiers = Object.entries(tiering.tiers ?? {});
    if (!tiers.length) return null;
    const place = (name) => ballots.seeds?.indexOf(name) ?? -1;
    const rows = tiers
      .sort(([a], [b]) => place(a) - place(b))
      .map(([name, tier]) => [
        tb.foreign(name),
        String(tier),
        place(name) < 0 ? "–" : String(place(name) + 1),
      ]);
    const why = tiering.reasoning ? tb.block(tiering.reasoning) : null;
    const table = tb.table(
      "Tiers (1 = best) and seeds",
      ["Model", { number: "Tier" }, { number: "Seed" }],
      rows,
    );
    return tb.fold("Seeding", table, why);
  }

  /** Rankings in one call: of a judge, or of every reviewer. */
  function reviews(ballots) {
    if (!ballots.listings?.length) return null;
    const who = new Map((ballots.reviewers ?? []).map((one) => [one.name, one]));
    const peers = who.size > 0;
    const rows = ballots.listings.map((listing) => {
      const own = who.get(listing.reviewer)?.candidate;
      return [
        peers ? tb.foreign(listing.reviewer || "–") : "Judge",
        listing.unscored ? tb.unscored(listing.unscored) : order(listing.groups ?? [], own),
        listing.shown?.length ? tb.names(listing.shown) : "–",
        listing.left_out?.length ? tb.names(listing.left_out) : "–",
      ];
    });
    const heads = [
      peers ? "Reviewer" : "Who",
      "Its ranking, best first",
      "Shown in this order",
      "Left out (too long)",
    ];
    const caption = peers
      ? "What every reviewer said (its own answer is underlined and marked “own”)"
      : "The ranking call";
    const method = tb.foreign(ballots.aggregator ?? "kemeny_young");
    const merged = peers ? el("p", {}, "Merged into one ranking by ", method, ".") : null;
    return tb.section(peers ? "The reviews" : "The listing", tb.table(caption, heads, rows), merged);
  }

  function order(groups, own) {
    const one = (name) =>
      name === own ? el("span", { class: "own" }, tb.foreign(name), " (own)") : tb.foreign(name);
    const tied = (group) => group.flatMap((name, at) => [at ? " = " : "", one(name)]);
    return el(
      "ol",
      { class: "order" },
      groups.map((group) => el("li", {}, tied(group))),
    );
  }

  /** Points that were given to each answer on its own, and what they were given for. */
  function grades(view) {
    const { ballots } = view.story;
    if (!ballots.scores?.length) return null;
    if (ballots.placed_by === "stars") return stars(ballots);
    const known = (view.rubric?.principles ?? []).map((one) => one.id);
    // Below the mean of a jury stands what each of its judges gave.
    const all = ballots.scores.flatMap((one) => [one, ...(one.parts ?? [])]);
    const given = all.flatMap((one) => Object.keys(one.grades ?? {}));
    const ids = [...new Set([...known, ...given])].filter((id) => given.includes(id));
    const rows = all.map((one) => [
      graded(one),
      one.unscored ? tb.unscored(one.unscored) : tb.number(one.score),
      ...ids.map((id) => tb.number(one.grades?.[id])),
    ]);
    const table = tb.table(
      "Points (0 to 1) and grades (0 to 10)",
      ["Model", { number: "Points" }, ...ids.map((id) => ({ number: tb.foreign(id) }))],
      rows,
    );
    return tb.section("The grades", table, principles(view.rubric), criteria(ballots));
  }

  /** Whose answer was graded, and by which judge of a jury. */
  const graded = ({ candidate, judge }) =>
    judge ? [tb.foreign(candidate), " by ", tb.foreign(judge)] : tb.foreign(candidate);

  /** Stars that were given by the key, with what a rule decided and the judges' reasons. */
  function stars(ballots) {
    const rows = ballots.scores
      .flatMap((one) => [one, ...(one.parts ?? [])])
      .map((one) => [
        graded(one),
        one.unscored ? tb.unscored(one.unscored) : tb.number(3 * one.score),
        one.correct === true ? "correct" : one.correct === false ? "wrong" : "",
        tb.foreign(one.reason ?? ""),
      ]);
    const table = tb.table(
      "Stars (0 to 3)",
      ["Model", { number: "Stars" }, "By rule", "Reason"],
      rows,
    );
    return tb.section("The stars", table);
  }

  function principles(rubric) {
    if (!rubric?.principles?.length) return null;
    const rows = rubric.principles.map((one) => [
      tb.foreign(one.id),
      tb.foreign(one.name),
      tb.number(one.weight),
      tb.foreign(one.description ?? ""),
    ]);
    const table = tb.table(
      "The principles and what they count",
      ["Id", "Principle", { number: "Weight" }, "Meaning"],
      rows,
    );
    return tb.fold("The rubric", table);
  }

  function criteria(ballots) {
    if (!ballots.criteria?.length) return null;
    const rows = ballots.criteria.map((one) =>
      [one.principle_id, one.full, one.half, one.none].map(tb.foreign),
    );
    const table = tb.table(
      "Written once for the whole benchmark",
      ["Principle", "Full marks", "Half marks", "No marks"],
      rows,
    );
    return tb.fold("What earns full, half and no marks", table);
  }
})();
