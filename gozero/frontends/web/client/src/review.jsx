// The review of a game by side: what the analysis costs, how each side played, and the way from mistake to mistake.

import { useState } from "preact/hooks";
import { Button, Choice, Stone } from "./controls.jsx";
import { usePage } from "./server.js";
import { decimal, english, t } from "./translate.js";
import { percent, side } from "./words.js";

const LISTED = 6, LINE = 6; // mistakes and moves
const DOTTED = 2; // the grade from which a move has a dot on the graph
const EFFORTS = { 25: english("quickly"), 100: english("well"), 400: english("thoroughly"), 1000: english("very thoroughly") }; // visits, in words
const MINUTE = 90; // seconds from which a time is in minutes

const ofSide = (who) => (move) => move !== null && (who === "both" || move.colour === who);

/** The button that analyses the whole game, with the time that it takes. */
export function AnalyseAll() {
  const { view, ask, progress, memory: { details } } = usePage();
  const [visits, setVisits] = useState(100);
  const missing = view.graph.map((point) => Math.max(0, visits - (point?.visits ?? 0))).filter(Boolean);
  const efforts = Object.entries(EFFORTS).map(([count, words]) => [count, details ? t("{how} ({count} visits)", { how: t(words), count }) : t(words)]);
  if (view.batch) {
    return (
      <div class="options">
        <Button onClick={() => ask("stop")}>{t("Stop")}</Button>
        {progress && <p class="quiet"><progress aria-label={t("Positions analysed")} value={progress.share} /> {left(progress)}</p>}
      </div>
    );
  }
  return (
    <>
      <div class="options">
        <Button disabled={!missing.length} onClick={() => ask("batch", { visits })}>{t("Analyse all moves")}</Button>
        <Choice aria-label={t("How thoroughly")} value={visits} options={efforts} onChange={(value) => setVisits(Number(value))} />
      </div>
      <p class="quiet">{costOf(missing, view.speed)}</p>
    </>
  );
}

/** How long the visits of these positions take, in a sentence. */
function costOf(missing, speed) {
  if (!missing.length) return t("All positions are analysed this well.");
  if (!speed) return t("How long it takes is measured at the first analysis.");
  const values = { count: missing.length, time: duration(missing.reduce((sum, visits) => sum + visits, 0) / speed) };
  return t(values.count === 1 ? "One position takes {time} on this machine." : "{count} positions take {time} on this machine.", values);
}

const left = ({ share, seconds }) =>
  (seconds === null ? percent(share) : t("{share}, {time} left", { share: percent(share), time: duration(seconds) }));

function duration(seconds) {
  if (seconds <= 1) return t("about a second");
  return seconds < MINUTE ? t("about {count} seconds", { count: Math.ceil(seconds) }) : t("about {count} minutes", { count: Math.ceil(seconds / 60) });
}

/** How both sides played, and the mistakes of those that are chosen. */
export function Mistakes() {
  const { view, who, change, showMistake, stepMistake, preview } = usePage(), { review } = view;
  if (!review.sides.black.moves && !review.sides.white.moves) return null;
  const isPoints = review.measure === "points", found = review.mistakes.filter(ofSide(who));
  const meanOf = ({ moves, mean }) => (!moves ? "–" : isPoints ? decimal(mean, 1) : percent(mean));
  const sides = ["black", "white"].filter((colour) => who === "both" || colour === who);
  const row = (head, cell) => <tr><th scope="row">{head}</th>{sides.map((colour) => <td key={colour}>{cell(review.sides[colour])}</td>)}</tr>;
  const button = (by, text, label, title) => (
    <Button aria-label={label} title={title} disabled={!otherMistake(view, who, by)} onClick={() => stepMistake(by)}>{text}</Button>
  );
  return (
    <>
      <div class="options">
        <Choice
          label={t("Moves of")} value={who} options={[["both", t("both sides")], ["black", t("Black")], ["white", t("White")]]}
          onChange={(chosen) => change({ who: chosen })}
        />
        {button(-1, "‹", t("Previous mistake"), t("Previous mistake (Shift+N)"))}
        {button(1, `${t("Mistake")} ›`, t("Next mistake"), t("Next mistake (N)"))}
      </div>
      {preview?.played && <Loss />}
      <table class="grades">
        <thead><tr><td />{sides.map((colour) => <th scope="col" key={colour}><Stone colour={colour} />{side(colour)}</th>)}</tr></thead>
        <tbody>
          {row(t(isPoints ? "Mean loss, points" : "Mean loss, win chance"), meanOf)}
          {row(t("Best moves"), ({ moves, best }) => (moves ? percent(best) : "–"))}
          {[5, 4, 3, 2, 1].map((grade) => row(<><Grade grade={grade} />{range(review, grade)}</>, ({ counts }) => counts[grade]))}
        </tbody>
      </table>
      {found.length > 0 && <h3>{t("Moves that lost most")}</h3>}
      <ul class="worst">
        {[...found].sort((one, other) => sizeOf(review, other) - sizeOf(review, one)).slice(0, LISTED).map((move) => (
          <li key={move.node}>
            <Button class="link" onClick={() => showMistake(move)}>
              <Grade grade={move.grade} />{t("{number}. {side} {vertex}: {loss}", { ...move, side: side(move.colour), loss: loss(move, view.unit) })}
            </Button>
          </li>
        ))}
      </ul>
    </>
  );
}

const sizeOf = ({ measure }, move) => (measure === "points" && move.points !== null ? move.points : move.loss);

const Grade = ({ grade }) => <span class={`grade grade-${grade}`} aria-hidden="true" />;

/** The losses of a grade in words. */
function range({ measure, limits }, grade) {
  const [low, high] = limits.slice(grade - 1, grade + 1).map((limit) => (measure === "points" ? limit : Math.round(100 * limit)));
  if (measure === "points") return t(high ? "{low} to {high} points" : "{low} points or more", { low, high });
  return t(high ? "{low} to {high} % win chance" : "{low} % win chance or more", { low, high });
}

/** What a move lost, with signs: what is gained is positive. */
function loss(move, unit) {
  const chance = `${signed(-100 * move.loss, 0)} %`;
  if (move.points === null) return t("{chance} win chance", { chance });
  return t("{chance} win chance, {points} {unit}", { chance, points: signed(-move.points, 1), unit: t(unit) });
}

export function signed(value, digits) {
  const size = decimal(Math.abs(value), digits);
  return Math.abs(value) < 0.5 / 10 ** digits ? "±0" : `${value < 0 ? "−" : "+"}${size}`;
}

/** The next mistake of the chosen sides after what is shown, or the one before it, round and round; the position before a mistake shows it. */
export function otherMistake(view, who, by) {
  const at = view.line.indexOf(view.at), found = view.review.mistakes.filter(ofSide(who));
  if (by > 0) return found.find((move) => move.number - 1 > at) ?? found[0];
  return found.findLast((move) => move.number - 1 < at) ?? found.at(-1);
}

/** Beside the board: what the move lost that led here, or the mistake that is shown with what was better. */
export function Loss() {
  const { view, preview } = usePage();
  const mistake = preview?.played;
  const move = mistake ?? view.review.last.find(({ node }) => node === view.at);
  if (!move) return null;
  const line = move.better.slice(0, LINE).join(" ");
  const values = { side: side(move.colour), vertex: move.vertex, loss: loss(move, view.unit), line };
  return (
    <p class="notice loss">
      <Grade grade={move.grade} />
      {t(mistake?.better.length ? "{side} played {vertex}: {loss}. Better: {line}" : "{side} {vertex}: {loss}", values)}
    </p>
  );
}

/** The dots of the graph: [index in the line, grade] of the moves of a side that lost something. */
export function dotsOf({ review, graph }, who) {
  const isDotted = (move, index) => graph[index + 1] && ofSide(who)(move) && move.grade >= DOTTED;
  return review.grades.flatMap((move, index) => (isDotted(move, index) ? [[index + 1, move.grade]] : []));
}
