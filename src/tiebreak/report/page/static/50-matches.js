/* The matches of an item: a bracket in columns where the winner goes on, else a list by round.
 * Each match is a button that shows its detail below. */
(() => {
  "use strict";
  const tb = window.tiebreak;
  const { el } = tb;

  tb.matches = (view) => {
    const { ballots } = view.story;
    if (!ballots.matches?.length) return null;
    const id = tb.newId();
    const detail = el("div", { class: "detail" });
    const buttons = ballots.matches.map((match, number) =>
      matchButton(view, match, () => view.openMatch(number)),
    );
    const drawn = tb.isBracket(ballots) ? bracket(view, buttons) : byRound(ballots, buttons);
    const title = tb.isBracket(ballots) ? "The bracket" : "The matches";
    view.openMatch = (number, noted = true) => {
      buttons.forEach((button, at) => button.setAttribute("aria-pressed", at === number));
      detail.replaceChildren(tb.matchDetail(view, ballots.matches[number]));
      if (noted) tb.noteMatch(number);
      const heading = detail.querySelector("h4");
      heading.focus({ preventScroll: true });
      heading.scrollIntoView({ block: "start" });
    };
    const hint = el("p", { class: "quiet" }, "Open a match to see its votes and the two answers.");
    const region = {
      class: "scroller bracket-region",
      tabindex: 0,
      role: "region",
      "aria-labelledby": id,
    };
    return el(
      "section",
      { class: "matches" },
      el("h3", { id }, title),
      hint,
      el("div", region, drawn),
      detail,
    );
  };

  /** Whether the winner of a match goes on to the next round, by the seeds. */
  tb.isBracket = (ballots) =>
    /^elimination/.test(ballots.placed_by ?? "elimination") && ballots.seeds?.length > 0;

  const totalRounds = (n) => Math.ceil(Math.log2(Math.max(n, 1)));

  tb.roundName = (ballots, round) => {
    const left = totalRounds(ballots.seeds?.length ?? 0) - round;
    if (!tb.isBracket(ballots) || left > 1 || left < 0) return `Round ${round}`;
    return left ? "Semi-final" : "Final";
  };

  /** Seeds (0 = best) in bracket order for a power of two: 8 → 0 7 3 4 1 6 2 5. */
  function seedPositions(size) {
    let order = [0];
    while (order.length < size)
      order = order.flatMap((high) => [high, 2 * order.length - 1 - high]);
    return order;
  }

  function bracket(view, buttons) {
    const { ballots } = view.story;
    const total = totalRounds(ballots.seeds.length);
    const positions = seedPositions(2 ** total);
    const columns = [];
    for (let round = 1; round <= total; round += 1) {
      const slots = Array.from({ length: 2 ** (total - round) }, (_, slot) => {
        const at = ballots.matches.findIndex((one) => one.round === round && one.slot === slot);
        if (at >= 0) return el("li", {}, buttons[at]);
        return el("li", {}, round === 1 ? bye(ballots, positions[2 * slot]) : notPlayed());
      });
      columns.push(column(tb.roundName(ballots, round), slots));
    }
    return el("div", { class: "bracket" }, columns);
  }

  function bye(ballots, seed) {
    const name = ballots.seeds[seed];
    const why = el("span", { class: "quiet" }, "no match: a bye");
    return el("p", { class: "bye" }, tb.foreign(name), why);
  }

  const notPlayed = () => el("p", { class: "bye quiet" }, "not played");

  function column(title, slots) {
    const id = tb.newId();
    const list = el("ol", { "aria-labelledby": id }, slots);
    return el("div", { class: "round" }, el("h4", { id }, title), list);
  }

  function byRound(ballots, buttons) {
    const rounds = [...new Set(ballots.matches.map((match) => match.round))].sort((a, b) => a - b);
    const columns = rounds.map((round) => {
      const own = buttons.filter((_, at) => ballots.matches[at].round === round);
      return column(
        `Round ${round}`,
        own.map((button) => el("li", {}, button)),
      );
    });
    // One round of all pairs is a grid, several rounds are columns beside each other.
    return el("div", { class: rounds.length > 1 ? "bracket rounds" : "bracket single" }, columns);
  }

  function matchButton(view, match, open) {
    const { ballots } = view.story;
    const side = (name, letter) => {
      const seed = ballots.seeds?.indexOf(name) ?? -1;
      const won = match.winner === name && decided(match);
      const goesOn = match.winner === name && !won && tb.isBracket(ballots);
      return el(
        "span",
        { class: won ? "player won" : "player" },
        tb.letter(letter),
        " ",
        tb.foreign(name),
        seed >= 0 ? el("span", { class: "quiet" }, ` seed ${seed + 1}`) : null,
        won ? el("span", { class: "result" }, " ✓ won") : null,
        goesOn ? el("span", { class: "result quiet" }, " → goes on") : null,
      );
    };
    const facts = [tb.outcome(match), ...(match.flipped ? ["⇄ flipped"] : [])].join(" · ");
    return el(
      "button",
      { type: "button", class: "match", "aria-pressed": "false", click: open },
      side(match.high, "A"),
      side(match.low, "B"),
      el("span", { class: "facts" }, facts),
    );
  }

  const decided = (match) => ["principles", "checklist", "votes"].includes(match.decided_by);

  /** How a match ended, in a few words. */
  tb.outcome = (match) => {
    if (match.decided_by === "unscored") return "∅ unscored";
    if (match.decided_by === "tie") return "= tie";
    const layer = match.decided_by === "checklist" ? match.checklist_margin : match.margin;
    return `${match.decided_by} ${tb.signed(layer)}`;
  };
})();
