/* The embedded store: an index of all items, and their stories in packed chunks that are unpacked
 * when one of their items is opened. */
(() => {
  "use strict";
  const tb = window.tiebreak;

  /** Data without what objects inherit: a model may be called "constructor". */
  const bare = (_, value) =>
    value && typeof value === "object" && !Array.isArray(value)
      ? Object.setPrototypeOf(value, null)
      : value;

  const index = document.getElementById("tiebreak-index");
  tb.index = index
    ? JSON.parse(index.textContent, bare)
    : { runs: [], rubrics: [], items: [] };

  const unpacked = new Map();

  const parsed = new Promise((resolve) => {
    if (document.readyState !== "loading") resolve();
    else document.addEventListener("DOMContentLoaded", () => resolve(), { once: true });
  });

  async function unpack(number) {
    await parsed;
    const packed = document.getElementById(`chunk-${number}`);
    if (!packed) throw new Error(`this file lacks part ${number} of its items: it was cut off`);
    if (!window.DecompressionStream) throw new Error("this browser cannot unpack gzip: update it");
    const bytes = Uint8Array.from(atob(packed.textContent), (letter) => letter.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    return JSON.parse(await new Response(stream).text(), bare);
  }

  /** What is known about the item at a place of the index: task, target, texts, stories. */
  tb.load = async (place) => {
    const { chunk } = tb.index.items[place];
    if (!unpacked.has(chunk)) unpacked.set(chunk, unpack(chunk));
    try {
      return (await unpacked.get(chunk))[String(place)];
    } catch (error) {
      unpacked.delete(chunk);
      throw error;
    }
  };
})();
