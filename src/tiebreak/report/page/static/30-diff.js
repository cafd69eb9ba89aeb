/* The difference of two texts, word by word: E. W. Myers, "An O(ND) difference algorithm and its
 * variations", Algorithmica 1 (1986), https://doi.org/10.1007/BF01840446. Pure functions. */
(() => {
  "use strict";
  const tb = window.tiebreak;

  // Work grows with tokens × edits, memory with edits²: these keep both within a blink.
  const MOST_EDITS = 2000;
  const MOST_WORK = 1e8;

  // Scripts that set no spaces: a character with its marks stands for a word.
  const UNSPACED = ["Hiragana", "Katakana", "Thai", "Lao", "Khmer", "Myanmar"]
    .map((script) => `\\p{Script=${script}}`)
    .join("");
  const ALONE = `[\\p{Ideographic}${UNSPACED}]`;
  // Words, runs of blanks, line ends, and every other character on its own.
  const WORDS = new RegExp(
    `\\n|[^\\S\\n]+|${ALONE}\\p{M}*|(?:(?!${ALONE})[\\p{L}\\p{M}\\p{N}_])+|[^]`,
    "gu",
  );
  const LINES = /[^\n]*\n|[^\n]+/g;

  /** Pieces of a text; joined they are the text again. */
  tb.words = (text) => text.match(WORDS) ?? [];
  const lines = (text) => text.match(LINES) ?? [];

  /**
   * Segments of two texts in order: `{same: true, left, right}` with equal sides, or
   * `{same: false, left, right}` where they differ (one side may be empty). The left sides joined
   * are the left text, the right sides the right one. Between equal segments as few words as
   * possible differ; texts too unlike for that are compared by lines first.
   */
  tb.diff = (left, right) => {
    const byWords = align(tb.words(left), tb.words(right), MOST_EDITS);
    if (byWords) return byWords;
    const byLines = align(lines(left), lines(right), MOST_EDITS);
    if (!byLines) return ends(tb.words(left), tb.words(right));
    let budget = MOST_EDITS;
    return byLines.flatMap((segment) => {
      if (segment.same || !segment.left || !segment.right) return [segment];
      const finer = align(tb.words(segment.left), tb.words(segment.right), budget);
      if (finer) budget -= finer.filter((one) => !one.same).length;
      return finer ?? [segment];
    });
  };

  /** How much of both texts is in segments that differ, in [0, 1]. */
  tb.unlike = (segments) => {
    let differs = 0;
    let all = 0;
    for (const { same, left, right } of segments) {
      all += left.length + right.length;
      if (!same) differs += left.length + right.length;
    }
    return all ? differs / all : 0;
  };

  /** Segments of two lists of tokens, or null if they need more than `limit` edits. */
  function align(left, right, limit) {
    const [head, tail] = common(left, right);
    const a = left.slice(head, left.length - tail);
    const b = right.slice(head, right.length - tail);
    const most = Math.min(limit, Math.floor(MOST_WORK / (a.length + b.length + 1)));
    const numbers = new Map();
    const number = (token) => {
      if (!numbers.has(token)) numbers.set(token, numbers.size);
      return numbers.get(token);
    };
    const kept = myers(Int32Array.from(a, number), Int32Array.from(b, number), most);
    if (!kept) return null;
    const pairs = [
      ...atHead(head),
      ...kept.map(([i, j]) => [i + head, j + head]),
      ...atTail(left, right, tail),
    ];
    return segments(left, right, pairs);
  }

  /** What is left to say without comparing: both texts differ between their common ends. */
  function ends(left, right) {
    const [head, tail] = common(left, right);
    return segments(left, right, [...atHead(head), ...atTail(left, right, tail)]);
  }

  const atHead = (head) => Array.from({ length: head }, (_, at) => [at, at]);
  const atTail = (left, right, tail) =>
    Array.from({ length: tail }, (_, at) => [left.length - tail + at, right.length - tail + at]);

  /** Numbers of equal tokens at the beginning and at the end. */
  function common(left, right) {
    const shorter = Math.min(left.length, right.length);
    let head = 0;
    while (head < shorter && left[head] === right[head]) head += 1;
    let tail = 0;
    while (tail < shorter - head && left.at(-1 - tail) === right.at(-1 - tail)) tail += 1;
    return [head, tail];
  }

  /**
   * Index pairs of a longest common subsequence, or null if it takes more than `most` edits.
   * `reach[k]` is how far into `a` a path on diagonal k (place in a − place in b) has come.
   */
  function myers(a, b, most) {
    const middle = most + 1;
    const reach = new Int32Array(2 * most + 3);
    const history = [];
    for (let edits = 0; edits <= most; edits += 1) {
      for (let k = -edits; k <= edits; k += 2) {
        const down = k === -edits || (k !== edits && reach[middle + k - 1] < reach[middle + k + 1]);
        let x = down ? reach[middle + k + 1] : reach[middle + k - 1] + 1;
        while (x < a.length && x - k < b.length && a[x] === b[x - k]) x += 1;
        reach[middle + k] = x;
        if (x === a.length && x - k === b.length) return walkBack(a.length, b.length, history);
      }
      history.push(reach.slice(middle - edits, middle + edits + 1));
    }
    return null;
  }

  /** From the end to the beginning along the furthest paths; `history[d][k + d]` is after d edits. */
  function walkBack(endOfA, endOfB, history) {
    const pairs = [];
    let x = endOfA;
    let y = endOfB;
    for (let edits = history.length; edits > 0; edits -= 1) {
      const before = history[edits - 1];
      const at = (k) => before[k + edits - 1];
      const k = x - y;
      const down = k === -edits || (k !== edits && at(k - 1) < at(k + 1));
      const from = down ? at(k + 1) : at(k - 1);
      for (const start = down ? from : from + 1; x > start;) pairs.push([(x -= 1), (y -= 1)]);
      y = from - (down ? k + 1 : k - 1);
      x = from;
    }
    while (x > 0) pairs.push([(x -= 1), (y -= 1)]);
    return pairs.reverse();
  }

  /** Tokens between the pairs differ; neighbours of one kind are joined. */
  function segments(left, right, pairs) {
    const found = [];
    const add = (same, l, r) => {
      if (!l && !r) return;
      const last = found.at(-1);
      if (last?.same === same) {
        last.left += l;
        last.right += r;
      } else found.push({ same, left: l, right: r });
    };
    let i = 0;
    let j = 0;
    for (const [nextI, nextJ] of [...pairs, [left.length, right.length]]) {
      add(false, left.slice(i, nextI).join(""), right.slice(j, nextJ).join(""));
      if (nextI < left.length) add(true, left[nextI], right[nextJ]);
      i = nextI + 1;
      j = nextJ + 1;
    }
    return found;
  }
})();
