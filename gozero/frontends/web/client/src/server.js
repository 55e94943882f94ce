// What the server has reported, as one state, and the requests to it. All parts of the page share it.

import { createContext } from "preact";
import { useContext, useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { connect } from "./connection.js";
import { settings, storeSettings } from "./storage.js";
import { hintWords } from "./teaching.jsx";
import { t } from "./translate.js";
import { reported } from "./words.js";

export const PageContext = createContext(null);
export const usePage = () => useContext(PageContext);

const START = {
  view: null, tree: null, look: null, hello: null, notice: null, loading: "", progress: null, hint: null, isKept: false, open: true, unauthorized: false,
  memory: settings(),
  dialog: null, // the one that is open: a report with what it shows, or {is: "new"} or {is: "resign"}
  preview: null, // a line that is shown on the board of its `node`
  mark: null, // a point that was tapped once, or the piece to move
  tool: null, // the mark that clicks put on points
  overlay: { moves: "moves", ownership: true },
  who: "both", // whose mistakes are shown
};

/** What each report changes, by its kind. */
const CHANGES = {
  hello: (now, report) => ({ hello: report, loading: "", notice: greeting(report) }),
  view: seen,
  tree: (now, report) => ({ tree: report }),
  look: (now, report) => now.view?.at === report.node && looked(now, report),
  refused: (now, { text }) => ({ notice: { kind: "refused", text: reported(text) } }),
  lost: (now, { text }) => ({ notice: { kind: "lost", text: reported(text) }, loading: "", view: now.view && stopped(now.view) }),
  message: (now, { text }) => ({ notice: { kind: "message", text } }),
  loading: (now, { text }) => ({ loading: text }),
  speed: (now, { speed }) => now.view && { view: { ...now.view, speed } },
  progress: ({ view }, report) => ({ progress: report, view: view && { ...view, graph: report.graph, review: report.review } }),
  snapshot: (now, { saved }) => ({ isKept: saved !== null }),
  unstored: (now, { text }) => ({ notice: { kind: "warning", text } }),
  list: (now, report) => ({ dialog: report }),
  games: (now, report) => ({ dialog: report }),
  lessons: (now, report) => ({ dialog: report }),
};

/** The state; `ask` sends a request, and is false if the connection is broken; `change` and `keep` change the state and its memory. */
export function useServer() {
  const [state, setState] = useState(START);
  const connection = useRef(null); // what sends a request
  const change = (more) => setState((now) => ({ ...now, ...(typeof more === "function" ? more(now) : more) }));
  const keep = (more) => change(({ memory }) => ({ memory: { ...memory, ...more } }));
  useEffect(() => {
    storeSettings(state.memory);
    document.documentElement.dataset.theme = state.memory.theme;
  }, [state.memory]);
  useEffect(() => {
    const take = (report) => {
      if (report.is === "record") download(report.name, report.text);
      else if (report.is === "known") location.search = `?game=${report.identity}`; // what the file was opened as before
      else change((now) => CHANGES[report.is]?.(now, report));
    };
    connection.current = connect(take, change);
  }, []);
  const ask = (what, more) => {
    change({ notice: null, hint: null });
    // shown as on or off at once; the server's answer says the same
    if (what === "analyse") change(({ view, look }) => view && { view: { ...view, analysing: more.on }, look: more.on ? look : null });
    const isSent = connection.current(what, more);
    if (!isSent) change({ notice: { kind: "lost", text: t("No connection to the server: nothing was sent.") } });
    return isSent;
  };
  return { ...state, ask, change, keep };
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
  if (isNew && !isOther && view.number > now.view.number && now.memory.sound) click();
  const leaves = isOther && now.view?.goingOn && now.view.line.length > 1;
  const isStale = isNew || !view.analysing || !view.toPlay;
  return {
    view, look: isStale ? null : now.look, hint: isNew ? null : now.hint, progress: view.batch ? now.progress : null,
    mark: isNew ? null : now.mark, tool: isOther ? null : now.tool,
    ...(leaves && { notice: { kind: "message", text: t("You can continue your previous game from My games.") } }),
  };
}

function looked(now, look) {
  const point = { black: look.black, score: look.score, visits: look.visits };
  const view = { ...now.view, graph: now.view.graph.with(now.view.line.indexOf(look.node), point) };
  if (!look.hint) return now.view.analysing && { look, view };
  const [best] = look.moves;
  const line = best.points.length > 1 ? { points: best.points, first: look.toPlay, node: look.node } : null;
  const text = hintWords(view, look, !hides(view, now.memory));
  return { view, hint: { from: best.from, point: best.point }, notice: { kind: "message", text, line } };
}

/** Whether a game is being played that must not show who leads. */
export const hides = (view, memory) => view.goingOn && !view.analysing && !memory.leads;

/**
 * Walking through the game, one request at a time, so that no key is lost however fast it repeats: `go(node)` shows a
 * node, `step(by)` one further along the line, counted from the last one that was asked for.
 */
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
    if (asked.current === null || view.at !== asked.current) return;
    if (wanted.current === view.at) forget();
    else send();
  }, [view]);
  useEffect(() => {
    if (!open || ["refused", "lost"].includes(notice?.kind)) forget();
  }, [open, notice]);
  return { go, step };
}

function download(name, text) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type: "application/octet-stream" }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

let audio = null;

/** A short wooden click. */
function click() {
  audio ??= new AudioContext();
  const at = audio.currentTime, tone = audio.createOscillator(), volume = audio.createGain();
  tone.frequency.setValueAtTime(820, at);
  tone.frequency.exponentialRampToValueAtTime(180, at + 0.05);
  volume.gain.setValueAtTime(0.25, at);
  volume.gain.exponentialRampToValueAtTime(0.001, at + 0.09);
  tone.connect(volume).connect(audio.destination);
  tone.start(at);
  tone.stop(at + 0.1);
}
