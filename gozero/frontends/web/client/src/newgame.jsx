// The dialog for a new game.

import { useState } from "preact/hooks";
import { Choice, Dialog, Level, Offer } from "./controls.jsx";
import { usePage } from "./server.js";
import { english, t } from "./translate.js";
import { learned, sizes, untrained } from "./words.js";

const CLOCKS = [
  { name: english("No clock"), main: 0, period: 0, periods: 0 },
  { name: english("10 s a move"), main: 0, period: 10, periods: 1 },
  { name: english("5 min, then 5 × 10 s"), main: 300, period: 10, periods: 5 },
  { name: english("10 min, then 5 × 30 s"), main: 600, period: 30, periods: 5 },
  { name: english("20 min for the game"), main: 1200, period: 0, periods: 0 },
];
const SIDES = [["black", english("Black (first)")], ["white", english("White")], ["both", english("both sides: no opponent")]];

const board = (game, size) => (game === "connect4" ? sizes(7, 6) : sizes(size, size));
const isBetween = (size, trained) => !trained.length || (size >= trained[0] && size <= trained.at(-1));
const handicapWords = (stones) => [stones, stones ? t("{count} stones for Black", { count: stones }) : t("none")];

export function NewGame({ onClose }) {
  const { view, ask, hello: { games }, memory: { details } } = usePage();
  const [chosen, setChosen] = useState(() => usual(games, view.game, view));
  const game = games.find((entry) => entry.name === chosen.game) ?? games[0];
  const network = game.engines.find((entry) => entry.label === chosen.engine) ?? game.engines[0];
  const most = Number(game.handicaps[chosen.size] ?? 0);
  const handicap = Math.min(chosen.handicap, most);
  const komi = chosen.komi ?? (handicap ? 0.5 : game.komi?.[chosen.rules]);
  const more = [
    most > 0 && t("handicap"), game.komi !== null && t("komi"), game.rules.length > 0 && t("rules"), chosen.person !== "both" && t("clock"),
    game.engines.length > 1 && t("engine"),
  ].filter(Boolean);

  const set = (change) => setChosen({ ...chosen, ...change });
  const field = (name, label, options, also) => {
    const read = typeof chosen[name] === "number" ? Number : String;
    return <Choice {...{ name, label, options }} value={chosen[name]} onChange={(value) => set({ [name]: read(value), ...also })} />;
  };
  const isTrained = isBetween(chosen.size, network.trained);
  const boardWords = (size) => {
    const values = { board: board(game.name, size) };
    return [size, isBetween(size, network.trained) ? values.board : t("{board} – not trained on this size", values)];
  };
  const engineWords = ({ label, name }) => [label, label || (details ? t("shipped: {name}", { name }) : t("the game's own"))];
  const start = () => {
    const { name, ...clock } = CLOCKS[chosen.clock];
    ask("new", { setup: { ...chosen, clock, komi: game.komi === null ? null : Number(komi), handicap } });
  };
  return (
    <Dialog title={t("New game")} yes={t("Start")} onYes={start} onClose={onClose}>
      <fieldset class="games">
        <legend>{t("Game")}</legend>
        {games.map((entry) => (
          <label key={entry.name} class="choice">
            <input type="radio" name="game" checked={entry === game} onChange={() => setChosen(usual(games, entry.name, chosen))} />
            <span>{t(entry.title)}</span>
          </label>
        ))}
      </fieldset>
      <Offer class="aim" label={t("First steps")} onClick={() => ask("lessons", { game: game.name })}>{t(game.aim)}</Offer>
      <div class="fields">
        {field("size", t("Board"), network.sizes.map(boardWords))}
        {field("person", t("You play"), SIDES.map(([value, words]) => [value, t(words)]))}
      </div>
      <Level level={chosen.level} name="level" onInput={(event) => set({ level: Number(event.currentTarget.value) })} />
      {more.length > 0 && <details class="more">
        <summary>{t("More: {list}", { list: more.join(", ") })}</summary>
        <div class="fields">
          {most > 0 && (
            <Choice
              label={t("Handicap")} name="handicap" value={handicap} options={[0, 2, 3, 4, 5, 6, 7, 8, 9].slice(0, most).map(handicapWords)}
              onChange={(stones) => set({ handicap: Number(stones), komi: null })}
            />
          )}
          {game.komi !== null && <label>{t("Komi")}
            <input
              type="number" name="komi" step="0.5" min="-361" max="361" required value={komi}
              onInput={(event) => set({ komi: event.currentTarget.value })}
            />
          </label>}
          {game.rules.length > 0 && field("rules", t("Rules"), game.rules.map((rules) => [rules, t(rules)]), { komi: null })}
          {chosen.person !== "both" && field("clock", t("Clock"), CLOCKS.map((clock, index) => [index, t(clock.name)]))}
          {game.engines.length > 1 && field("engine", t("Engine"), game.engines.map(engineWords))}
        </div>
      </details>}
      <div class={isTrained ? "note" : "note warning"}>
        <p>{learned(network)}</p>
        {details && network.strength && <details><summary>{t("What is known of its strength")}</summary><p>{network.name}: {network.strength}.</p></details>}
        {!isTrained && (
          <p>⚠ {untrained(board(game.name, chosen.size))}</p>
        )}
      </div>
    </Dialog>
  );
}

/** What a new game of this name begins with, after another one or another choice. */
function usual(games, name, { game: before, size, person, level }) {
  const game = games.find((entry) => entry.name === name) ?? games[0];
  return {
    game: game.name, engine: "", size: before === name ? size : game.engines[0].usual, person: person ?? "black", level,
    rules: game.rules[0] ?? null, komi: null, handicap: 0, clock: 0,
  };
}
