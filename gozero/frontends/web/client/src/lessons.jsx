// The first steps of a game: positions to solve, with an answer to each move. The game that is being played waits.

import { useState } from "preact/hooks";
import { Board, vertexOf } from "./board.jsx";
import { Button, Dialog } from "./controls.jsx";
import { PageContext, usePage } from "./server.js";
import { t } from "./translate.js";

export function Lessons({ title, lessons, onClose }) {
  const page = usePage();
  const [number, setNumber] = useState(0);
  const [answer, setAnswer] = useState(null); // to the move that was tried; its view, if it is shown
  const [mark, setMark] = useState(null); // the piece to move
  const lesson = lessons[number], isLast = number === lessons.length - 1;
  const again = () => {
    setAnswer(null);
    setMark(null);
  };
  const go = (other) => {
    setNumber(other);
    again();
  };
  const play = (vertex) => {
    setMark(null);
    if (!answer?.view) setAnswer(answerTo(lesson, vertex));
  };
  const board = {
    view: answer?.view ?? lesson.view, mark: answer?.view ? null : mark, setMark, play, memory: { ...page.memory, legal: true },
    look: null, preview: null, hint: null, pick: null,
  };
  return (
    <Dialog
      class="lessons" title={t("First steps: {game}", { game: t(title) })} no={t("Close")} onClose={onClose}
      aside={t("{number} of {count}", { number: number + 1, count: lessons.length })}
      buttons={<>
        <Button disabled={number === 0} onClick={() => go(number - 1)}>{t("Back")}</Button>
        <Button disabled={!answer} onClick={again}>{t("Try again")}</Button>
        <Button class={answer?.isRight ? "main" : ""} onClick={() => (isLast ? page.change({ dialog: { is: "new" } }) : go(number + 1))}>
          {isLast ? t("Play a game") : t("Next")}
        </Button>
      </>}
    >
      <p><strong>{t(lesson.title)}.</strong> {t(lesson.task)}</p>
      <PageContext.Provider value={board}><Board /></PageContext.Provider>
      <div class="notices" aria-live="polite">
        {answer?.isRight === true && <p class="notice right">{t("Right. {text}", { text: t(answer.text) })}</p>}
        {answer?.isRight === false && <p class="notice warning">{t(answer.text)}</p>}
      </div>
    </Dialog>
  );
}

/** What is said to a move. */
function answerTo({ view, answers, refused, otherwise, steps }, vertex) {
  const legal = view.targets
    ? Object.entries(view.targets).flatMap(([from, points]) => points.map((point) => `${vertexOf(view, from)}-${vertexOf(view, point)}`))
    : view.legal.map((point) => vertexOf(view, point));
  const move = view.falling ? legal.find((other) => other[0] === vertex[0]) ?? vertex : vertex;
  return answers[move] ?? { isRight: false, view: null, text: legal.includes(move) ? otherwise : refused[move] ?? steps };
}
