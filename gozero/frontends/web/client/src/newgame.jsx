// The dialog for a new game.

import { useEffect, useRef, useState } from "preact/hooks";
import { learned, levelWords, sizes } from "./words.js";

const CLOCKS = [
  { name: "No clock", main: 0, period: 0, periods: 0 },
  { name: "10 s a move", main: 0, period: 10, periods: 1 },
  { name: "5 min, then 5 × 10 s", main: 300, period: 10, periods: 5 },
  { name: "10 min, then 5 × 30 s", main: 600, period: 30, periods: 5 },
  { name: "20 min for the game", main: 1200, period: 0, periods: 0 },
];

const board = (game, size) => (game === "connect4" ? sizes(7, 6) : sizes(size, size));

export function NewGame({ games, view, onStart, onClose }) {
  const dialog = useRef(null);
  const [chosen, setChosen] = useState(() => usual(games, view?.game ?? "go", view));
  const game = games.find((entry) => entry.name === chosen.game) ?? games[0];
  const network = game.engines.find((entry) => entry.label === chosen.engine) ?? game.engines[0];
  const handicaps = Number(game.handicaps[chosen.size] ?? 0);
  const more = [handicaps > 0 && "handicap", game.komi !== null && "komi", game.rules.length > 0 && "rules", chosen.person !== "both" && "clock", game.engines.length > 1 && "engine"].filter(Boolean);
  const untrained = network.trained.length > 0 && !isBetween(chosen.size, network.trained);
  useEffect(() => dialog.current.showModal(), []);

  const set = (change) => setChosen({ ...chosen, ...change });
  const setGame = (name) => setChosen({ ...usual(games, name, null), person: chosen.person, level: chosen.level });
  const start = (event) => {
    event.preventDefault();
    const { name, ...clock } = CLOCKS[chosen.clock];
    const setup = { game: chosen.game, size: chosen.size, person: chosen.person, level: chosen.level, clock, engine: chosen.engine };
    if (game.rules.length) setup.rules = chosen.rules;
    if (game.komi !== null) setup.komi = Number(chosen.komi);
    if (handicaps) setup.handicap = Math.min(chosen.handicap, handicaps);
    onStart(setup);
  };
  return (
    <dialog ref={dialog} class="dialog" onClose={onClose} aria-labelledby="new-title">
      <form onSubmit={start}>
        <h2 id="new-title">New game</h2>
        <fieldset class="games">
          <legend>Game</legend>
          {games.map((entry) => (
            <label key={entry.name} class="choice">
              <input type="radio" name="game" value={entry.name} checked={entry.name === chosen.game} onChange={() => setGame(entry.name)} />
              <span>{entry.title}</span>
            </label>
          ))}
        </fieldset>
        <p class="aim">{game.aim}</p>
        <div class="fields">
          <label>Board
            <select name="size" value={chosen.size} onChange={(event) => set({ size: Number(event.currentTarget.value) })}>
              {network.sizes.map((size) => <option key={size} value={size}>{board(game.name, size)}{network.trained.length && !isBetween(size, network.trained) ? " – never trained" : ""}</option>)}
            </select>
          </label>
          <label>You play
            <select name="person" value={chosen.person} onChange={(event) => set({ person: event.currentTarget.value })}>
              <option value="black">Black (first)</option>
              <option value="white">White</option>
              <option value="both">both sides: no opponent</option>
            </select>
          </label>
        </div>
        <label class="level">Level <output>{levelWords(chosen.level)}</output>
          <input type="range" name="level" min="1" max="20" value={chosen.level} onInput={(event) => set({ level: Number(event.currentTarget.value) })} />
        </label>
        {more.length > 0 && <details class="more">
          <summary>More: {more.join(", ")}</summary>
          <div class="fields">
            {handicaps > 0 && <label>Handicap
              <select name="handicap" value={Math.min(chosen.handicap, handicaps)} onChange={(event) => set({ handicap: Number(event.currentTarget.value), komi: Number(event.currentTarget.value) ? 0.5 : game.komi })}>
                {[0, ...Array.from({ length: handicaps - 1 }, (_, index) => index + 2)].map((stones) => <option key={stones} value={stones}>{stones === 0 ? "none" : `${stones} stones for Black`}</option>)}
              </select>
            </label>}
            {game.komi !== null && <label>Komi
              <input type="number" name="komi" step="0.5" min="-361" max="361" required value={chosen.komi} onInput={(event) => set({ komi: event.currentTarget.value })} />
            </label>}
            {game.rules.length > 0 && <label>Rules
              <select name="rules" value={chosen.rules} onChange={(event) => set({ rules: event.currentTarget.value })}>
                {game.rules.map((rules) => <option key={rules} value={rules}>{rules}</option>)}
              </select>
            </label>}
            {chosen.person !== "both" && <label>Clock
              <select name="clock" value={chosen.clock} onChange={(event) => set({ clock: Number(event.currentTarget.value) })}>
                {CLOCKS.map((clock, index) => <option key={index} value={index}>{clock.name}</option>)}
              </select>
            </label>}
            {game.engines.length > 1 && <label>Engine
              <select name="engine" value={chosen.engine} onChange={(event) => set({ engine: event.currentTarget.value })}>
                {game.engines.map((entry) => <option key={entry.label} value={entry.label}>{entry.label || `shipped: ${entry.name}`}</option>)}
              </select>
            </label>}
          </div>
        </details>}
        <Strength network={network} warning={untrained} size={board(game.name, chosen.size)} />
        <div class="buttons">
          <button type="button" onClick={() => dialog.current.close()}>Cancel</button>
          <button type="submit" class="main">Start</button>
        </div>
      </form>
    </dialog>
  );
}

function Strength({ network, warning, size }) {
  return (
    <div class={warning ? "strength warning" : "strength"}>
      <p>{learned(network)}</p>
      {network.strength && <details><summary>What is known of its strength</summary><p>{network.name}: {network.strength}.</p></details>}
      {warning && <p><strong>⚠ {size} was never trained:</strong> expect weak moves and wrong estimates.</p>}
    </div>
  );
}

const isBetween = (size, trained) => size >= trained[0] && size <= trained.at(-1);

function usual(games, name, view) {
  const game = games.find((entry) => entry.name === name) ?? games[0];
  return {
    game: game.name, engine: "", size: view?.game === name ? view.size : game.engines[0].usual, person: view?.person ?? "black",
    level: view?.level ?? 5, rules: game.rules[0] ?? null, komi: game.komi, handicap: 0, clock: 0,
  };
}
