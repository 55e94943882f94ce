// The first steps of a game: positions to solve, with an answer to each move. The game that is being played waits.

import { useEffect, useRef, useState } from "preact/hooks";
import { Board, vertexOf } from "./board.jsx";
import { english, t } from "./translate.js";

const STEPS = english("Choose one of your pieces, then where it goes: one step ahead, straight or slantwise.");

export function Lessons({ title, lessons, coordinates, onClose, onPlay }) {
  const dialog = useRef(null);
  const [number, setNumber] = useState(0);
  const [answer, setAnswer] = useState(null); // to the move that was tried; its view, if it is shown
  const [marked, setMarked] = useState(null); // the piece to move
  useEffect(() => dialog.current.showModal(), []);
  const lesson = lessons[number], isLast = number === lessons.length - 1;
  const go = (other) => {
    setNumber(other);
    again();
  };
  const again = () => {
    setAnswer(null);
    setMarked(null);
  };
  const choose = (vertex) => {
    setMarked(null);
    if (!answer?.view) setAnswer(answerTo(lesson, vertex));
  };
  return (
    <dialog ref={dialog} class="dialog lessons" onClose={onClose} aria-labelledby="lessons-title">
      <h2 id="lessons-title">{t("First steps: {game}", { game: t(title) })} <span class="quiet">{t("{number} of {count}", { number: number + 1, count: lessons.length })}</span></h2>
      <p><strong>{t(lesson.title)}.</strong> {t(lesson.task)}</p>
      <Board
        view={answer?.view ?? lesson.view} look={null} overlay={{ moves: "none" }} preview={null} hint={null} marked={answer?.view ? null : marked} details={false}
        onPlay={choose} onMark={setMarked} coordinates={coordinates} marksLegal={lesson.view.game === "othello"}
      />
      <div class="notices" aria-live="polite">{answer && <p class={answer.isRight ? "notice right" : "notice warning"}>{answer.isRight ? t("Right. {text}", { text: t(answer.text) }) : t(answer.text)}</p>}</div>
      <div class="buttons">
        <button type="button" onClick={() => dialog.current.close()}>{t("Close")}</button>
        <button type="button" disabled={number === 0} onClick={() => go(number - 1)}>{t("Back")}</button>
        <button type="button" disabled={!answer} onClick={again}>{t("Try again")}</button>
        {isLast
          ? <button type="button" class={answer?.isRight ? "main" : ""} onClick={() => { dialog.current.close(); onPlay(); }}>{t("Play a game")}</button>
          : <button type="button" class={answer?.isRight ? "main" : ""} onClick={() => go(number + 1)}>{t("Next")}</button>}
      </div>
    </dialog>
  );
}

/** What is said to a move. */
function answerTo({ view, answers, refused, otherwise }, vertex) {
  const legal = view.targets ? Object.entries(view.targets).flatMap(([from, points]) => points.map((point) => `${vertexOf(view, from)}-${vertexOf(view, point)}`)) : view.legal.map((point) => vertexOf(view, point));
  const move = view.falling ? legal.find((other) => other[0] === vertex[0]) ?? vertex : vertex;
  return answers[move] ?? { isRight: false, view: null, text: legal.includes(move) ? otherwise : refused[move] ?? STEPS };
}
