// The connection to the server: requests go out, reports come in. If it breaks it is made again. A server that was
// started anew is given the game's snapshot.

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
    const game = new URLSearchParams(location.search).get("game");
    const query = game ? `?game=${encodeURIComponent(game)}` : "";
    this.socket = new WebSocket(`ws://${location.host}/socket${query}${query && this.snapshot ? "&snapshot=1" : ""}`);
    this.socket.onopen = () => {
      this.wait = FIRST_WAIT;
      this.onChange(true);
    };
    this.socket.onmessage = (event) => {
      const report = JSON.parse(event.data);
      if (report.is === "hello") this.greet(report);
      if (report.is === "snapshot") this.snapshot = report.saved;
      if (report.is === "view") this.shown = { at: report.at, leaf: report.line.at(-1) };
      this.onReport(report);
    };
    this.socket.onclose = () => {
      this.onChange(false);
      setTimeout(() => this.open(), this.wait);
      this.wait = Math.min(2 * this.wait, LONGEST_WAIT);
    };
  }

  /** The first report of a server; one that has lost the game is given it. */
  greet(report) {
    history.replaceState(null, "", `?game=${report.game}`);
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
