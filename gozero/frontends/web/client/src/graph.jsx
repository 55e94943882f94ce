// Black's chance and lead over the game; a click shows the move.

import { t } from "./translate.js";
import { ahead, percent } from "./words.js";

const WIDTH = 320, HEIGHT = 110, LEFT = 4, RIGHT = 4;

export function Graph({ view, dots, onGo }) {
  const count = Math.max(1, view.line.length - 1);
  const across = (index) => LEFT + ((WIDTH - LEFT - RIGHT) * index) / count;
  const known = view.graph.map((point, index) => point && { ...point, index }).filter(Boolean);
  const scored = known.filter((point) => point.score !== null);
  const most = Math.max(5, ...scored.map((point) => Math.abs(point.score)));
  const chance = known.map((point) => `${across(point.index).toFixed(1)},${(HEIGHT * (1 - point.black)).toFixed(1)}`);
  const score = scored.map((point) => `${across(point.index).toFixed(1)},${(HEIGHT * (0.5 - (0.48 * point.score) / most)).toFixed(1)}`);
  const at = view.line.indexOf(view.at);
  const now = view.graph[at];
  const go = (event) => {
    const box = event.currentTarget.getBoundingClientRect();
    const index = Math.round((((event.clientX - box.left) / box.width) * WIDTH - LEFT) / ((WIDTH - LEFT - RIGHT) / count));
    onGo(view.line[Math.min(count, Math.max(0, index))] ?? view.line[0]);
  };
  return (
    <figure class="graph">
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" onClick={go} aria-hidden="true">
        <rect class="white-half" x="0" y="0" width={WIDTH} height={HEIGHT} />
        {known.length > 1 && <polygon class="black-part" points={`${across(known[0].index)},${HEIGHT} ${chance.join(" ")} ${across(known.at(-1).index)},${HEIGHT}`} />}
        <line class="middle" x1="0" x2={WIDTH} y1={HEIGHT / 2} y2={HEIGHT / 2} />
        {known.length > 1 && <polyline class="chance" points={chance.join(" ")} />}
        {score.length > 1 && <polyline class="score" points={score.join(" ")} />}
        {known.length === 1 && <circle class="dot" cx={across(known[0].index)} cy={HEIGHT * (1 - known[0].black)} r="3" />}
        {dots.filter(([index]) => view.graph[index]).map(([index, grade]) => (
          <path key={index} class={`graded grade-${grade}`} d={`M${across(index).toFixed(1)} ${(HEIGHT * (1 - view.graph[index].black)).toFixed(1)}h0`} />
        ))}
        {at >= 0 && <line class="here" x1={across(at)} x2={across(at)} y1="0" y2={HEIGHT} />}
      </svg>
      <figcaption>
        {now ? [t("Move {at}: Black wins {chance}", { at, chance: percent(now.black) }), now.score !== null && ahead(now.score, view.unit)].filter(Boolean).join("; ") : t("Not analysed here yet.")}
        <span class="keys"><span class="key-chance">{t("Black's chance")}</span>{score.length > 1 && <span class="key-score">{t("{unit} (dashed)", { unit: t(view.unit) })}</span>}</span>
      </figcaption>
    </figure>
  );
}

export function Walk({ view, onGo, onStep }) {
  const at = Math.max(0, view.line.indexOf(view.at)), last = view.line.length - 1;
  const button = (label, text, off, act) => (
    <button type="button" class="step" aria-label={label} title={label} disabled={off} onClick={act}>{text}</button>
  );
  return (
    <div class="walk" role="group" aria-label={t("Walk through the game")}>
      {button(t("First position"), "«", at === 0, () => onGo(view.line[0]))}
      {button(t("Back one move"), "‹", at === 0, () => onStep(-1))}
      <input type="range" min="0" max={last} value={at} aria-label={t("Move {at} of {last}", { at, last })} onInput={(event) => onGo(view.line[Number(event.currentTarget.value)])} disabled={last === 0} />
      {button(t("Forward one move"), "›", at === last, () => onStep(1))}
      {button(t("Last position"), "»", at === last, () => onGo(view.line[last]))}
      <output>{at} / {last}</output>
    </div>
  );
}
