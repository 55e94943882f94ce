// The text of a record, whatever its encoding: SGF names its own.

export function decoded(bytes) {
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
