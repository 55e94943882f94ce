// What the page says to somebody who learns: how a hint is explained, the warning after a bad move, the end of a game.

import { Button } from "./controls.jsx";
import { usePage } from "./server.js";
import { english, t } from "./translate.js";
import { percent, rival, side } from "./words.js";

const LEAST_GAIN = 1; // points that are worth a sentence
const LOST = { // by what is counted
  points: english("That move lost about {count} points. Play it anyway, or take it back?"),
  discs: english("That move lost about {count} discs. Play it anyway, or take it back?"),
  moves: english("That move lost about {count} moves. Play it anyway, or take it back?"),
  eyes: english("That move lost about {count} eyes. Play it anyway, or take it back?"),
};

const WINS = english("{winner} wins by {by}."), LOSES = english("You lost: {winner} wins by {by}.");
const ENDS = { // for everybody, for a person who won, and for one who lost
  resignation: [
    english("{winner} wins: {loser} resigned."), english("You won: {loser} resigned."), english("You resigned: {winner} wins."),
  ],
  time: [
    english("{winner} wins: {loser} ran out of time."), english("You won: {loser} ran out of time."),
    english("You ran out of time: {winner} wins."),
  ],
};

/** A hint in words: the move, and what is known of it. */
export function hintWords(view, look, isShown) {
  const [best] = look.moves, facts = look.facts ?? {};
  if (best.vertex === "pass") return view.legal.length ? t("Hint: pass. Nothing is left to gain.") : t("Hint: pass. There is no other move.");
  const gain = Math.round(facts.gain);
  const sentences = [
    t("Hint: {move}.", { move: best.vertex }),
    facts.wins && t("It wins the game."),
    facts.stops && t("Otherwise {side} wins at once with {move}.", { side: side(rival(look.toPlay)), move: facts.stops }),
    facts.takes > 0 && taken(view.game, facts.takes),
    facts.saves > 0 && t(facts.saves === 1 ? "It saves a stone from capture." : "It saves {saves} stones from capture.", facts),
    facts.gain >= LEAST_GAIN && t(
      gain === 1 ? "It is worth about 1 point more than a pass." : "It is worth about {gain} points more than a pass.", { gain },
    ),
    isShown && best.chance !== null && t("{side} then wins {chance}.", { side: side(look.toPlay), chance: percent(best.chance) }),
  ];
  return sentences.filter(Boolean).join(" ");
}

function taken(game, count) {
  if (game === "othello") return count === 1 ? t("It flips 1 disc.") : t("It flips {count} discs.", { count });
  if (game === "breakthrough") return t("It captures a piece.");
  return count === 1 ? t("It captures a stone.") : t("It captures {count} stones.", { count });
}

/** After a move that lost much the engine waits for an answer. */
export function Warning() {
  const { view, ask } = usePage();
  const { points, chance } = view.mistake;
  const text = points !== null
    ? t(LOST[view.unit], { count: Math.round(points) })
    : t("Your chance to win fell by about {chance}. Play it anyway, or take it back?", { chance: percent(chance) });
  return (
    <p class="notice warning" role="alert">{text}{" "}
      <Button class="small" onClick={() => ask("anyway")}>{t("Play it anyway")}</Button>
      <Button class="small" onClick={() => ask("undo")}>{t("Take it back")}</Button>
    </p>
  );
}

/** The end of a game in words: for everybody, or for a person who played against the engine. */
export function endWords({ winner, how, by, margin }, person) {
  if (!winner) return t("The game is a draw.");
  const [all, won, lost] = ENDS[how] ?? [WINS, english("You won by {by}."), margin === null ? LOSES : english("You lost by {by}.")];
  const loser = side(rival(winner));
  return t(person ? (winner === person ? won : lost) : all, { winner: side(winner), loser, by: t(by, { margin, loser }) });
}

/** In place of the buttons for moves when the game is over. */
export function Ended() {
  const { ask } = usePage();
  const review = () => {
    ask("review");
    const card = document.querySelector(".review");
    card?.scrollIntoView({ block: "nearest" });
    card?.querySelector("button:not(:disabled)")?.focus({ preventScroll: true });
  };
  return (
    <div class="actions ended" role="group" aria-label={t("After the game")}>
      <Button class="main" onClick={review}>{t("Review")}</Button>
      <Button onClick={() => ask("rematch")}>{t("Rematch")}</Button>
      <Button onClick={() => ask("rematch", { swap: true })}>{t("Swap colours")}</Button>
      <Button onClick={() => ask("undo")}>{t("Undo")}</Button>
    </div>
  );
}
