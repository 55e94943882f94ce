// The connection to the server: requests go out, reports come in. If it breaks it is made again. A server that does not
// have the game is given its snapshot. The page's address names the game that it shows.

import { storedGame, storeGame } from "./storage.js";

const FIRST_WAIT = 500, LONGEST_WAIT = 5000; // milliseconds before another attempt

/** The identity of the game in the page's address. */
const addressed = () => new URLSearchParams(location.search).get("game");

/**
 * Connects; `onReport(report)` is called with each report, `onChange({ open })` when the connection opens or breaks, and
 * `onChange({ unauthorized })` after a break: whether the server has another token than this page.
 * Returns `ask(what, more)`, which sends a request, and is false if the connection is broken.
 */
export function connect(onReport, onChange) {
  let socket, wait = FIRST_WAIT;
  let snapshot = null; // what the server needs to continue the game; null if it is too large for a page
  const ask = (what, more = {}) => {
    if (socket.readyState !== WebSocket.OPEN) return false;
    socket.send(JSON.stringify({ do: what, ...more }));
    return true;
  };
  const take = (report) => {
    if (report.is === "hello") {
      report.restored = report.lost && snapshot !== null;
      if (report.restored) ask("restore", { saved: snapshot });
    } else if (report.is === "snapshot") {
      snapshot = report.saved;
      if (snapshot) storeGame(snapshot);
    } else if (report.is === "view") {
      if (snapshot) Object.assign(snapshot.game, { at: report.at, leaf: report.line.at(-1) }); // what is shown by now
      if (addressed() !== report.identity) history.replaceState(null, "", `?game=${report.identity}`);
    }
    onReport(report);
  };
  const open = () => {
    const game = addressed();
    if (game && snapshot?.game.identity !== game) snapshot = storedGame(game);
    const query = game ? `?game=${encodeURIComponent(game)}${snapshot ? "&snapshot=1" : ""}` : "";
    socket = new WebSocket(`ws://${location.host}/socket${query}`);
    socket.onopen = () => {
      wait = FIRST_WAIT;
      onChange({ open: true, unauthorized: false });
    };
    socket.onmessage = (event) => take(JSON.parse(event.data));
    socket.onclose = () => {
      onChange({ open: false });
      fetch("/", { method: "HEAD" }).then(({ status }) => onChange({ unauthorized: status === 401 }), () => {});
      setTimeout(open, wait);
      wait = Math.min(2 * wait, LONGEST_WAIT);
    };
  };
  open();
  return ask;
}
