// The list of the games that were played or opened, to go on with one or to delete it.

import { useState } from "preact/hooks";
import { Button, Dialog } from "./controls.jsx";
import { usePage } from "./server.js";
import { deleteGame, storedGames } from "./storage.js";
import { t } from "./translate.js";
import { side, sizes } from "./words.js";

const DAY = new Intl.DateTimeFormat([], { dateStyle: "medium" }), TIME = new Intl.DateTimeFormat([], { timeStyle: "short" });

/** `listed` are the games that the server has; the dialog adds those that only this browser has. */
export function MyGames({ listed, games, onClose }) {
  const { view, notice, ask } = usePage();
  const [chosen, setChosen] = useState(null); // the game that is deleted by another click
  const known = new Set(listed.map((game) => game.identity));
  const here = storedGames().filter((game) => game.game && !known.has(game.identity));
  const all = [...listed, ...here].sort((one, other) => other.played - one.played);
  const remove = (identity) => {
    setChosen(chosen === identity ? null : identity);
    if (chosen !== identity) return;
    deleteGame(identity);
    ask("delete-game", { identity });
  };
  return (
    <Dialog title={t("My games")} no={t("Close")} onClose={onClose}>
      {notice?.kind === "refused" && <p class="notice refused" role="alert">{notice.text}</p>}
      {all.length === 0 && <p class="quiet">{t("There are no games yet. A game appears here after its first move.")}</p>}
      <ul class="my-games">
        {all.map((game) => {
          const title = t(games.find((entry) => entry.name === game.game)?.title ?? game.game);
          const board = t("{game} on {size}", { game: title, size: sizes(game.cols, game.rows) });
          const isChosen = game.identity === chosen, isCurrent = game.identity === view.identity;
          return (
            <li key={game.identity}>
              <p>{isCurrent ? <strong>{t("{board} (open now)", { board })}</strong> : <a href={`?game=${game.identity}`}>{board}</a>}</p>
              <p class="outcome">{outcome(game)}</p>
              <p class="quiet">{opponent(game)} · {game.moves === 1 ? t("1 move") : t("{count} moves", { count: game.moves })} · {date(game.played)}</p>
              {!isCurrent && (
                <Button class="link" aria-label={t(isChosen ? "Really delete {board}" : "Delete {board}", { board })} onClick={() => remove(game.identity)}>
                  {isChosen ? t("Really delete?") : t("Delete")}
                </Button>
              )}
            </li>
          );
        })}
      </ul>
    </Dialog>
  );
}

/** When a game was played, in seconds since 1970: the time if it was today. */
function date(played) {
  const day = DAY.format(1000 * played);
  return day === DAY.format(Date.now()) ? TIME.format(1000 * played) : day;
}

function opponent({ person, level, engine, record }) {
  if (record) return t("Record: {record}", { record });
  if (person === "both") return t("No opponent");
  const values = { side: side(person), level, engine };
  return engine ? t("You are {side}, against level {level} of {engine}", values) : t("You are {side}, against level {level}", values);
}

/** How a game ended, for the person if there was an opponent; SGF writes "B+3.5", and "0" for a draw. */
function outcome({ goesOn, person, record, result }) {
  if (goesOn) return t("in progress");
  if (!result) return record ? "" : t("not finished");
  if (result === "0") return t("a draw");
  if (person === "both") return result;
  return result[0].toLowerCase() === person[0] ? t("won ({result})", { result }) : t("lost ({result})", { result });
}
