// Walking through the game: one request at a time, so that no key is lost however fast it repeats.

import { useEffect, useLayoutEffect, useRef } from "preact/hooks";

/** `go(node)` shows a node, `step(by)` one further along the line, counted from the last one that was asked for. */
export function useWalk({ view, notice, open, ask }) {
  const wanted = useRef(null), asked = useRef(null); // nodes; null: the one that is shown
  const forget = () => (wanted.current = asked.current = null);
  const send = () => {
    asked.current = wanted.current;
    if (!ask("goto", { node: wanted.current })) forget();
  };
  const go = (node) => {
    if (node === undefined || node === (wanted.current ?? view.at)) return;
    wanted.current = node;
    if (asked.current === null) send();
  };
  const step = (by) => go(view.line[view.line.indexOf(wanted.current ?? view.at) + by]);
  useLayoutEffect(() => {
    if (asked.current === null || view?.at !== asked.current) return;
    if (wanted.current === view.at) forget();
    else send();
  }, [view]);
  useEffect(() => {
    if (!open || ["refused", "lost"].includes(notice?.kind)) forget();
  }, [open, notice]);
  return { go, step };
}
