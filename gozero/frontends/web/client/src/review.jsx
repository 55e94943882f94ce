// The review of a game by side: what the analysis costs, how each side played, and the way from mistake to mistake.

import { useState } from "preact/hooks";
import { Choice, Stone } from "./controls.jsx";
import { english, t } from "./translate.js";
import { percent, side } from "./words.js";

const LISTED = 6, LINE = 6; // mistakes and moves
const DOTTED = 2; // the grade from which a move has a dot on the graph
const EFFORTS = [[25, english("quickly")], [100, english("well")], [400, english("thoroughly")], [1000, english("very thoroughly")]]; // visits, in words
const MINUTE = 90; // seconds from which a time is in minutes

const ofSide = (who) => (move) => move !== null && (who === "both" || move.colour === who);

/** The button that analyses the whole game, with the time that it takes. */
export function AnalyseAll({ view, ask, progress, details }) {
  const [visits, setVisits] = useState(100);
  const missing = view.graph.map((point) => Math.max(0, visits - (point?.visits ?? 0))).filter(Boolean);
  const cost = view.speed && duration(missing.reduce((sum, count) => sum + count, 0) / view.speed);
  if (view.batch) {
    return (
      <div class="options">
        <button type="button" onClick={() => ask("stop")}>{t("Stop")}</button>
        {progress && <p class="quiet"><progress aria-label={t("Positions analysed")} value={progress.share} /> {left(progress)}</p>}
      </div>
    );
  }
  return (
    <>
      <div class="options">
        <button type="button" disabled={!missing.length} onClick={() => ask("batch", { visits })}>{t("Analyse all moves")}</button>
        <Choice aria-label={t("How thoroughly")} value={visits} options={EFFORTS.map(([count, words]) => [count, details ? t("{how} ({count} visits)", { how: t(words), count }) : t(words)])} onChange={(value) => setVisits(Number(value))} />
      </div>
      <p class="quiet">{!missing.length ? t("All positions are analysed this well.") : !cost ? t("How long it takes is measured at the first analysis.") : missing.length === 1 ? t("One position takes {time} on this machine.", { time: cost }) : t("{count} positions take {time} on this machine.", { count: missing.length, time: cost })}</p>
    </>
  );
}

function left({ done, total, seconds }) {
  return seconds === null ? t("{done} of {total} positions", { done, total }) : t("{done} of {total} positions, {time} left", { done, total, time: duration(seconds) });
}

function duration(seconds) {
  if (seconds <= 1) return t("about a second");
  return seconds < MINUTE ? t("about {count} seconds", { count: Math.ceil(seconds) }) : t("about {count} minutes", { count: Math.ceil(seconds / 60) });
}

/** How both sides played, and the mistakes of those that are chosen. */
export function Mistakes({ view, who, onWho, onShow, onStep }) {
  const { review } = view;
  if (!review.sides.black.moves && !review.sides.white.moves) return null;
  const found = review.mistakes.filter(ofSide(who));
  const sides = ["black", "white"].filter((colour) => who === "both" || colour === who);
  return (
    <>
      <div class="options">
        <Choice label={t("Moves of")} value={who} options={[["both", t("both sides")], ["black", t("Black")], ["white", t("White")]]} onChange={onWho} />
        <button type="button" aria-label={t("Previous mistake")} title={t("Previous mistake (Shift+N)")} disabled={!otherMistake(view, who, -1)} onClick={() => onStep(-1)}>‹</button>
        <button type="button" aria-label={t("Next mistake")} title={t("Next mistake (N)")} disabled={!otherMistake(view, who, 1)} onClick={() => onStep(1)}>{t("Mistake")} ›</button>
      </div>
      <table class="grades">
        <thead><tr><td />{sides.map((colour) => <th scope="col" key={colour}><Stone colour={colour} />{side(colour)}</th>)}</tr></thead>
        <tbody>
          <tr><th scope="row">{review.measure === "points" ? t("Mean loss, points") : t("Mean loss, win chance")}</th>{sides.map((colour) => <td key={colour}>{mean(review, colour)}</td>)}</tr>
          <tr><th scope="row">{t("Best moves")}</th>{sides.map((colour) => <td key={colour}>{review.sides[colour].moves ? percent(review.sides[colour].best) : "–"}</td>)}</tr>
          {[...review.limits.keys()].reverse().map((index) => (
            <tr key={index}><th scope="row"><span class={`grade grade-${index + 1}`} aria-hidden="true" />{range(review, index)}</th>{sides.map((colour) => <td key={colour}>{review.sides[colour].counts[index + 1]}</td>)}</tr>
          ))}
        </tbody>
      </table>
      {found.length > 0 && <h3>{t("Moves that lost most")}</h3>}
      <ul class="worst">
        {[...found].sort((one, other) => sizeOf(review, other) - sizeOf(review, one)).slice(0, LISTED).map((move) => (
          <li key={move.node}>
            <button type="button" class="link" onClick={() => onShow(move)}><span class={`grade grade-${move.grade}`} aria-hidden="true" />{t("{number}. {side} {vertex}: {loss}", { ...move, side: side(move.colour), loss: loss(move, view.unit) })}</button>
          </li>
        ))}
      </ul>
    </>
  );
}

const sizeOf = ({ measure }, move) => (measure === "points" && move.points !== null ? move.points : move.loss);

function mean({ measure, sides }, colour) {
  if (!sides[colour].moves) return "–";
  return measure === "points" ? sides[colour].mean.toFixed(1) : percent(sides[colour].mean);
}

/** The losses of a grade in words. */
function range({ measure, limits }, index) {
  const low = limits[index], high = limits[index + 1];
  if (measure === "points") return high ? t("{low} to {high} points", { low, high }) : t("{low} points or more", { low });
  return high ? t("{low} to {high} % win chance", { low: Math.round(100 * low), high: Math.round(100 * high) }) : t("{low} % win chance or more", { low: Math.round(100 * low) });
}

/** What a move lost, with signs: what is gained is positive. */
function loss(move, unit) {
  const chance = `${signed(-100 * move.loss, 0)} %`;
  return move.points === null ? t("{chance} win chance", { chance }) : t("{chance} win chance, {points} {unit}", { chance, points: signed(-move.points, 1), unit: t(unit) });
}

export function signed(value, digits) {
  const size = Math.abs(value).toFixed(digits);
  return Number(size) === 0 ? "±0" : `${value < 0 ? "−" : "+"}${size}`;
}

/** The next mistake of the chosen sides after what is shown, or the one before it; the position before a mistake shows it. */
export function otherMistake(view, who, by) {
  const at = view.line.indexOf(view.at), found = view.review.mistakes.filter(ofSide(who));
  return by > 0 ? found.find((move) => move.number - 1 > at) : found.findLast((move) => move.number - 1 < at);
}

/** Beside the board: what the move lost that led here, or the mistake that is shown with what was better. */
export function Loss({ view, preview }) {
  const mistake = preview?.node === view.at ? preview.played : null;
  const move = mistake ?? view.review.last.find(({ node }) => node === view.at);
  if (!move) return null;
  const values = { side: side(move.colour), vertex: move.vertex, loss: loss(move, view.unit) };
  return (
    <p class="notice loss"><span class={`grade grade-${move.grade}`} aria-hidden="true" />
      {mistake?.better.length ? t("{side} played {vertex}: {loss}. Better: {line}", { ...values, line: mistake.better.slice(0, LINE).join(" ") }) : t("{side} {vertex}: {loss}", values)}
    </p>
  );
}

/** The dots of the graph: [index in the line, grade] of the moves of a side that lost something. */
export const dotsOf = ({ review }, who) => review.grades.map((move, index) => [index + 1, move]).filter(([, move]) => ofSide(who)(move) && move.grade >= DOTTED).map(([index, move]) => [index, move.grade]);
