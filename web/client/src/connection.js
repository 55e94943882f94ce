// The connection to the server: requests go out, reports come in. Where it breaks it is made again.

const FIRST_WAIT = 500, LONGEST_WAIT = 5000; // milliseconds before another attempt

export class Connection {
  /** `hear(report)` is called with each report, `seen(isOpen)` when the connection opens or breaks. */
  constructor(hear, seen) {
    this.hear = hear;
    this.seen = seen;
    this.wait = FIRST_WAIT;
    this.open();
  }

  open() {
    const game = new URLSearchParams(location.search).get("game");
    const query = game ? `?game=${encodeURIComponent(game)}` : "";
    this.socket = new WebSocket(`ws://${location.host}/socket${query}`);
    this.socket.onopen = () => {
      this.wait = FIRST_WAIT;
      this.seen(true);
    };
    this.socket.onmessage = (event) => {
      const report = JSON.parse(event.data);
      if (report.is === "hello") history.replaceState(null, "", `?game=${report.room}`);
      this.hear(report);
    };
    this.socket.onclose = () => {
      this.seen(false);
      setTimeout(() => this.open(), this.wait);
      this.wait = Math.min(2 * this.wait, LONGEST_WAIT);
    };
  }

  /** Send a request; false where the connection is broken. */
  ask(what, more = {}) {
    if (this.socket.readyState !== WebSocket.OPEN) return false;
    this.socket.send(JSON.stringify({ do: what, ...more }));
    return true;
  }
}
