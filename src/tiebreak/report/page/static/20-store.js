/* The store: an index of all items, and their stories and texts in packed chunks that are unpacked
 * when an item is opened. Chunks stand in the page, or in scripts beside it that call `part`. */
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
    : { runs: [], rubrics: [], items: [], stories: [], texts: [], files: [] };

  // The chunks that were used last: all of a large report are more than a browser can hold.
  const MOST_UNPACKED = 8;
  const unpacked = new Map();

  const parsed = new Promise((resolve) => {
    if (document.readyState !== "loading") resolve();
    else document.addEventListener("DOMContentLoaded", () => resolve(), { once: true });
  });

  async function embedded(number) {
    await parsed;
    const packed = document.getElementById(`chunk-${number}`);
    if (!packed) throw new Error(`this file lacks part ${number} of its items: it was cut off`);
    return packed.textContent;
  }

  const arrived = new Map();
  tb.part = (number, packed) => arrived.set(number, packed);

  /** A chunk from its script. (A page that was opened from a disk may read no other file.) */
  async function fromBeside(file, number) {
    const script = tb.el("script", { src: file });
    const loaded = new Promise((resolve, reject) => {
      script.addEventListener("load", resolve);
      script.addEventListener("error", () =>
        reject(new Error(`the file ${file} is not beside this page, where it belongs`)),
      );
    });
    document.head.append(script);
    await loaded.finally(() => script.remove());
    const packed = arrived.get(number);
    arrived.delete(number);
    if (packed === undefined) throw new Error(`the file ${file} is damaged`);
    return packed;
  }

  async function unpack(number) {
    const file = tb.index.files[number];
    const packed = await (file ? fromBeside(file, number) : embedded(number));
    if (!window.DecompressionStream) throw new Error("this browser cannot unpack gzip: update it");
    const bytes = Uint8Array.from(atob(packed), (letter) => letter.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    return JSON.parse(await new Response(stream).text(), bare);
  }

  /** What a chunk holds. */
  async function held(chunk) {
    const found = unpacked.get(chunk) ?? unpack(chunk);
    unpacked.delete(chunk);
    unpacked.set(chunk, found);
    if (unpacked.size > MOST_UNPACKED) unpacked.delete(unpacked.keys().next().value);
    try {
      return await found;
    } catch (error) {
      unpacked.delete(chunk);
      throw error;
    }
  }

  /** A story or a text by its number, out of the chunk that holds it. */
  async function piece(chunks, number) {
    const [first, chunk] = chunks.findLast(([start]) => start <= number);
    return (await held(chunk))[number - first];
  }

  /** What is known about the item at a place of the index: task, target, texts, stories. */
  tb.load = async (place) => {
    const item = await piece(tb.index.stories, place);
    const text = (number) => piece(tb.index.texts, number);
    return item && { ...item, texts: await Promise.all(item.texts.map(text)) };
  };
})();
