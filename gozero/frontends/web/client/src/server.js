// What the server has reported, as one state, and the requests to it. All parts of the page share it.

import { createContext } from "preact";
import { useContext, useEffect, useRef, useState } from "preact/hooks";
import { Connection } from "./connection.js";
import { download } from "./records.js";
import { click, remembered } from "./remembered.js";
import { hintWords } from "./teaching.jsx";
import { t } from "./translate.js";

export const PageContext = createContext(null);
export const usePage = () => useContext(PageContext);

/** `dialog` is the one that is open: a report with what it shows, or {is: "new"} or {is: "resign"}. */
const NOTHING = {
  view: null, tree: null, look: null, hello: null, notice: null, loading: "", progress: null, hint: null, dialog: null,
  isKept: false, open: true,
};

/** What each report changes, by its kind. */
const CHANGES = {
  hello: (now, report) => ({ hello: report, loading: "", notice: greeting(report) }),
  view: seen,
  tree: (now, report) => ({ tree: report }),
  look: (now, report) => now.view?.at === report.node && looked(now, report),
  refused: (now, { text }) => ({ notice: { kind: "refused", text } }),
  lost: (now, { text }) => ({ notice: { kind: "lost", text }, loading: "", view: now.view && stopped(now.view) }),
  message: (now, { text }) => ({ notice: { kind: "message", text } }),
  loading: (now, { text }) => ({ loading: text }),
  speed: (now, { speed }) => now.view && { view: { ...now.view, speed } },
  progress: progressed,
  snapshot: (now, { saved }) => ({ isKept: saved !== null }),
  unstored: (now, { text }) => ({ notice: { kind: "warning", text } }),
  list: (now, report) => ({ dialog: report }),
  games: (now, report) => ({ dialog: report }),
  lessons: (now, report) => ({ dialog: report }),
};

/** The state; `ask`, which sends a request, and is false if the connection is broken; `change(values)` of the state. */
export function useServer() {
  const [state, setState] = useState(NOTHING);
  const connection = useRef(null);
  const change = (more) => setState((now) => ({ ...now, ...(typeof more === "function" ? more(now) : more) }));
  useEffect(() => {
    const take = (report) => {
      if (report.is === "record") download(report.name, report.text);
      else change((now) => CHANGES[report.is]?.(now, report));
    };
    connection.current = new Connection(take, (open) => change({ open }));
  }, []);
  const ask = (what, more) => {
    change({ notice: null, hint: null });
    // shown as on or off at once; the server's answer says the same
    if (what === "analyse") change(({ view, look }) => view && { view: { ...view, analysing: more.on }, look: more.on ? look : null });
    const isSent = connection.current.ask(what, more);
    if (!isSent) change({ notice: { kind: "lost", text: t("No connection to the server: nothing was sent.") } });
    return isSent;
  };
  return { ...state, ask, change };
}

function greeting({ restored, lost }) {
  if (restored) return { kind: "message", text: t("The server did not have this game. Your browser restored it.") };
  if (!lost) return null;
  return { kind: "warning", text: t("The game at this address was not found on the server or in this browser. This is a new game.") };
}

/** A view without an engine: no search, and both clocks stopped. */
const stopped = (view) => ({
  ...view, thinking: false, analysing: false, batch: false, clock: view.clock && { ...view.clock, running: null },
});

function seen(now, view) {
  const isOther = now.view?.identity !== view.identity, isNew = isOther || now.view.at !== view.at;
  if (isNew && !isOther && view.number > now.view.number && remembered().sound) click();
  const leaves = isOther && now.view?.goingOn && now.view.line.length > 1;
  const isStale = isNew || !view.analysing || !view.toPlay;
  return {
    view, look: isStale ? null : now.look, hint: isNew ? null : now.hint, progress: view.batch ? now.progress : null,
    ...(leaves && { notice: { kind: "message", text: t("You can continue your previous game from My games.") } }),
  };
}

/** The graph with what is known of another node. */
function known(view, node, point) {
  const index = view.line.indexOf(node);
  return index < 0 || !point ? view : { ...view, graph: view.graph.with(index, point) };
}

function progressed({ view }, report) {
  const found = view && report.points.reduce((graph, [node, point]) => known(graph, node, point), view);
  return { progress: report, view: found && { ...found, review: report.review } };
}

function looked(now, look) {
  const view = known(now.view, look.node, { black: look.black, score: look.score, visits: look.visits });
  if (!look.hint) return now.view.analysing && { look, view };
  const [best] = look.moves;
  const line = best.points.length > 1 ? { points: best.points, first: look.toPlay, node: look.node } : null;
  const text = hintWords(view, look, !hides(view, remembered()));
  return { view, hint: { from: best.from, point: best.point }, notice: { kind: "message", text, line } };
}

/** Whether a game is being played that must not show who leads. */
export const hides = (view, memory) => view.goingOn && !view.analysing && !memory.leads;
