// The two players above the board: whose turn it is, what each has captured, the clocks.

import { useEffect, useState } from "preact/hooks";
import { Stone } from "./controls.jsx";
import { usePage } from "./server.js";
import { t } from "./translate.js";
import { side, time } from "./words.js";

export function Players() {
  const { view } = usePage();
  const passed = usePassed(view.clock);
  return (
    <div class="players" role="group" aria-label={t("The players")}>
      {["black", "white"].map((colour) => {
        const turn = turnOf(view, colour);
        return (
          <div key={colour} class={turn ? "player to-move" : "player"}>
            <Stone colour={colour} />
            <div class="who">
              <strong>{nameOf(view, colour)}</strong>
              <span class="quiet whose">{turn} </span><span class="quiet">{gainOf(view, colour)}</span>
            </div>
            {view.clock && <Clock clock={view.clock} colour={colour} passed={passed} />}
          </div>
        );
      })}
    </div>
  );
}

function nameOf(view, colour) {
  if (view.person === colour) return t("{side}: you", { side: side(colour) });
  if (view.person) return t("{side}: level {level}", { side: side(colour), level: view.level });
  return view.players[colour] ? `${side(colour)}: ${view.players[colour]}` : side(colour);
}

/** Of the game that is being played, also while an earlier move is shown. */
function turnOf(view, colour) {
  const moving = view.mistake ? view.person : view.goingOn ? view.turn : view.toPlay;
  if (view.over || moving !== colour) return "";
  if (view.mistake) return t("your turn");
  return view.thinking ? t("thinking…") : view.goingOn && view.person === colour ? t("your turn") : t("to move");
}

/** What is counted beside a player: stones captured in Go, discs in Othello. */
function gainOf({ captured, game, stones }, colour) {
  if (captured) return t("{count} captured", { count: captured[colour] });
  const count = stones.filter((stone) => stone === (colour === "black" ? 1 : 2)).length;
  if (game !== "othello") return "";
  return count === 1 ? t("1 disc") : t("{count} discs", { count });
}

/** Seconds since the clocks were reported. */
function usePassed(clock) {
  const [passed, setPassed] = useState(0);
  useEffect(() => {
    const begun = performance.now();
    setPassed(0);
    const timer = clock?.running && setInterval(() => setPassed((performance.now() - begun) / 1000), 250);
    return () => clearInterval(timer);
  }, [clock]);
  return passed;
}

function Clock({ clock, colour, passed }) {
  const isRunning = clock.running === colour;
  const { left, periods } = timeLeft(clock, colour, isRunning ? passed : 0);
  const isEach = periods > 0 && clock.periods === 1; // each move has the same time
  return (
    <span class={isRunning ? "clock running" : "clock"} role="timer" aria-label={colour === "black" ? t("Black's clock") : t("White's clock")}>
      {isEach ? t("{seconds} s a move", { seconds: Math.ceil(left) }) : time(left)}{periods > 0 && !isEach && <small> × {periods}</small>}
    </span>
  );
}

/** A side's clock after so many more seconds: a period that is used up makes way for the next, as on the server. */
function timeLeft(clock, colour, passed) {
  let { seconds, periods } = clock[colour];
  let left = seconds - passed;
  while (left < 0 && periods !== 1 && clock.periods) {
    left += clock.period;
    periods = periods ? periods - 1 : clock.periods;
  }
  return { left: Math.max(0, left), periods };
}
