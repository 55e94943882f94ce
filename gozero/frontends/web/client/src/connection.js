// The connection to the server: requests go out, reports come in. If it breaks it is made again. A server that does not
// have the game is given its snapshot. The page's address names the game that it shows.

import { storedGame, storeGame } from "./stored.js";

const FIRST_WAIT = 500, LONGEST_WAIT = 5000; // milliseconds before another attempt

export class Connection {
  /** `onReport(report)` is called with each report, `onChange(isOpen)` when the connection opens or breaks. */
  constructor(onReport, onChange) {
    this.onReport = onReport;
    this.onChange = onChange;
    this.wait = FIRST_WAIT;
    this.snapshot = null; // what the server needs to take the game up
    this.shown = {};
    this.open();
  }

  open() {
    const game = addressed();
    if (game && this.snapshot?.game.identity !== game) this.snapshot = storedGame(game);
    const query = game ? `?game=${encodeURIComponent(game)}` : "";
    this.socket = new WebSocket(`ws://${location.host}/socket${query}${query && this.snapshot ? "&snapshot=1" : ""}`);
    this.socket.onopen = () => {
      this.wait = FIRST_WAIT;
      this.onChange(true);
    };
    this.socket.onmessage = (event) => {
      const report = JSON.parse(event.data);
      if (report.is === "hello") this.greet(report);
      if (report.is === "snapshot") this.store(report.saved);
      if (report.is === "view") this.show(report);
      this.onReport(report);
    };
    this.socket.onclose = () => {
      this.onChange(false);
      setTimeout(() => this.open(), this.wait);
      this.wait = Math.min(2 * this.wait, LONGEST_WAIT);
    };
  }

  /** A snapshot, null if it is too large for a page. */
  store(saved) {
    this.snapshot = saved;
    this.shown = {}; // the snapshot says it
    if (saved) storeGame(saved);
  }

  show({ identity, at, line }) {
    this.shown = { at, leaf: line.at(-1) };
    if (addressed() !== identity) history.replaceState(null, "", `?game=${identity}`);
  }

  /** The first report of a server; one that does not have the game is given it. */
  greet(report) {
    report.restored = report.lost && this.snapshot !== null;
    if (report.restored) this.ask("restore", { saved: { ...this.snapshot, game: { ...this.snapshot.game, ...this.shown } } });
  }

  /** Send a request; false where the connection is broken. */
  ask(what, more = {}) {
    if (this.socket.readyState !== WebSocket.OPEN) return false;
    this.socket.send(JSON.stringify({ do: what, ...more }));
    return true;
  }
}

/** The identity of the game in the page's address. */
const addressed = () => new URLSearchParams(location.search).get("game");
