// Black's chance and lead over the game; a click shows the move.

import { Button } from "./controls.jsx";
import { dotsOf } from "./review.jsx";
import { usePage } from "./server.js";
import { t } from "./translate.js";
import { ahead, percent } from "./words.js";

const WIDTH = 320, HEIGHT = 110, LEFT = 4, RIGHT = 4;

export function Graph() {
  const { view, who, go } = usePage();
  const count = Math.max(1, view.line.length - 1);
  const across = (index) => LEFT + ((WIDTH - LEFT - RIGHT) * index) / count;
  const known = view.graph.map((point, index) => point && { ...point, index }).filter(Boolean);
  const scored = known.filter((point) => point.score !== null);
  const most = Math.max(5, ...scored.map((point) => Math.abs(point.score)));
  const place = (index, share) => `${across(index).toFixed(1)} ${(HEIGHT * share).toFixed(1)}`;
  const chance = known.map((point) => place(point.index, 1 - point.black));
  const score = scored.map((point) => place(point.index, 0.5 - (0.48 * point.score) / most));
  const at = view.line.indexOf(view.at);
  const now = view.graph[at];
  const click = (event) => {
    const box = event.currentTarget.getBoundingClientRect();
    const index = Math.round((((event.clientX - box.left) / box.width) * WIDTH - LEFT) / ((WIDTH - LEFT - RIGHT) / count));
    go(view.line[Math.min(count, Math.max(0, index))] ?? view.line[0]);
  };
  return (
    <figure class="graph">
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" onClick={click} aria-hidden="true">
        <rect class="white-half" x="0" y="0" width={WIDTH} height={HEIGHT} />
        {known.length > 1 && <polygon class="black-part" points={[place(known[0].index, 1), ...chance, place(known.at(-1).index, 1)].join(" ")} />}
        <line class="middle" x1="0" x2={WIDTH} y1={HEIGHT / 2} y2={HEIGHT / 2} />
        {known.length > 1 && <polyline class="chance" points={chance.join(" ")} />}
        {score.length > 1 && <polyline class="score" points={score.join(" ")} />}
        {dotsOf(view, who).map(([index, grade]) => (
          <path key={index} class={`graded grade-${grade}`} d={`M${place(index, 1 - view.graph[index].black)}h0`} />
        ))}
        {at >= 0 && <line class="here" x1={across(at)} x2={across(at)} y1="0" y2={HEIGHT} />}
      </svg>
      <figcaption>
        {now ? t("Move {at}: Black wins {chance}", { at, chance: percent(now.black) }) : t("Not analysed here yet.")}
        {now && now.score !== null && `; ${ahead(now.score, view.unit)}`}
        <span class="keys">
          <span class="key-chance">{t("Black's chance")}</span>
          {score.length > 1 && <span class="key-score">{t("{unit} (dashed)", { unit: t(view.unit) })}</span>}
        </span>
      </figcaption>
    </figure>
  );
}

export function Walk() {
  const { view, go, step } = usePage();
  const at = Math.max(0, view.line.indexOf(view.at)), last = view.line.length - 1;
  return (
    <div class="walk" role="group" aria-label={t("Walk through the game")}>
      <Button class="step" label={t("First position")} disabled={at === 0} onClick={() => go(view.line[0])}>«</Button>
      <Button class="step" label={t("Back one move")} disabled={at === 0} onClick={() => step(-1)}>‹</Button>
      <input
        type="range" min="0" max={last} value={at} disabled={last === 0} aria-label={t("Move {at} of {last}", { at, last })}
        onInput={(event) => go(view.line[Number(event.currentTarget.value)])}
      />
      <Button class="step" label={t("Forward one move")} disabled={at === last} onClick={() => step(1)}>›</Button>
      <Button class="step" label={t("Last position")} disabled={at === last} onClick={() => go(view.line[last])}>»</Button>
      <output>{at} / {last}</output>
    </div>
  );
}
