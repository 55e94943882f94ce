// The text of a record, whatever its encoding: SGF names its own.

const MARKS = { "255,254": "utf-16le", "254,255": "utf-16be" }; // the first bytes
const CONTROL = /[\0-\x08\x0b\x0c\x0e-\x1f\x7f]/g; // no part of a record, and each six times as long when it is sent

export const decoded = (bytes) => textOf(bytes).replace(CONTROL, "");

function textOf(bytes) {
  const wide = MARKS[new Uint8Array(bytes.slice(0, 2)).join()];
  if (wide) return new TextDecoder(wide).decode(bytes);
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    const head = new TextDecoder("latin1").decode(bytes.slice(0, 2000));
    const named = /CA\s*\[\s*([\w.:-]+)\s*\]/.exec(head)?.[1] ?? "latin1";
    try {
      return new TextDecoder(named).decode(bytes);
    } catch {
      return new TextDecoder("latin1").decode(bytes); // an encoding that this browser does not know
    }
  }
}
