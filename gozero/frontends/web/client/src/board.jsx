// The board: stones as the server reports them, with what is shown on top of them. It knows no rules.

import { Goban } from "@sabaki/shudan";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { markerOf, markInWords } from "./marks.jsx";
import { t } from "./translate.js";
import { candidates } from "./panels.jsx";
import { usePage } from "./server.js";
import { signed } from "./review.jsx";
import { percent, short, sizes } from "./words.js";

const LETTERS = "ABCDEFGHJKLMNOPQRSTUVWXYZ";
const SIGNS = [0, 1, -1]; // a colour's number → Shudan's sign
const LARGEST_VERTEX = 96, MARGIN = 2.7; // pixels; coordinates and border in vertices
const LEAST_PRIOR = 0.01;
const BEST = 5; // candidate moves on the board
const ARROWS = 3; // candidate moves of pieces that have one
const CROWDED = 13; // points a side from which a tap is first shown, and played by a second one
const FULL = 2; // Shudan draws a shade of 1 half transparent
const LEAST_OWNED = 0.15, FAINTEST = 0.6; // expected owner from which a point is shaded, and the least shade

/** Whether a tap is too coarse to play at once. */
export const isCrowded = (view) => Math.max(view.cols, view.rows) >= CROWDED && !view.falling;

const grid = (view, values) => Array.from({ length: view.rows }, (_, y) => Array.from({ length: view.cols }, (_, x) => values[pointAt(view, x, y)]));

/** A row of the drawing as a row of the server's, and the other way round. */
const turned = (view, y) => (view.turned ? view.rows - 1 - y : y);

/** [x, y] of a point in the drawing, and the point that is drawn there. */
const placeOf = (view, point) => [point % view.cols, turned(view, Math.floor(point / view.cols))];
const pointAt = (view, x, y) => turned(view, y) * view.cols + x;

/** A point as the server takes it: GTP. */
export const vertexOf = (view, point) => `${LETTERS[point % view.cols]}${view.rows - Math.floor(point / view.cols)}`;

/** A point as the game's players name it. */
export const nameOf = (view, point) => `${view.letters[point % view.cols]}${rowOf(view, Math.floor(point / view.cols))}`;

const rowOf = (view, y) => (view.fromTop ? y + 1 : view.rows - y);

/** The board of the page, or of what stands in its place in the context. */
export function Board() {
  const page = usePage(), { view, mark, setMark, play, pick, memory } = page;
  const frame = useRef(null), pointer = useRef("mouse");
  const [room, setRoom] = useState({ width: 0, height: 0 });
  const [hovered, setHovered] = useState(null);
  const [cursor, setCursor] = useState(null);
  const [announced, setAnnounced] = useState("");

  useEffect(() => {
    const watch = new ResizeObserver(([entry]) => setRoom({ width: entry.contentRect.width, height: entry.contentRect.height }));
    watch.observe(frame.current);
    return () => watch.disconnect();
  }, []);
  useLayoutEffect(() => setCursor(null), [view.game, view.size]); // before a key can move it

  const margin = memory.coordinates ? MARGIN : 1;
  const slant = view.hexagons ? view.rows / 2 : 0; // what the skewed board needs beside it, style.css
  const fits = Math.min(room.width / (view.cols + slant + margin), room.height / (view.rows + margin));
  const vertexSize = Math.max(8, Math.floor(Math.min(fits, LARGEST_VERTEX)));
  const isEarlier = view.goingOn && view.live !== view.at;
  const mayPlay = view.toPlay && (!view.goingOn || !view.person || view.person === view.toPlay) && !view.thinking && !isEarlier && !pick;
  const from = view.targets && mayPlay ? mark : null; // the piece to move
  const maps = mapsOf({ ...page, from, hovered: mayPlay ? mark ?? hovered : null, marksLegal: mayPlay && view.game === "othello" && memory.legal });
  const take = (point) => {
    if (pick) pick(point);
    else if (!view.targets) play(vertexOf(view, point));
    else if (mayPlay && (mark === point || view.targets[point])) setMark(mark === point ? null : point);
    else play(mark === null ? vertexOf(view, point) : `${vertexOf(view, mark)}-${vertexOf(view, point)}`);
  };
  const choose = (point) => {
    const isUnsure = pointer.current === "touch" && isCrowded(view) && mayPlay;
    if (isUnsure && mark !== point) setMark(point);
    else take(point);
  };

  const press = (event) => {
    const moves = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
    if (moves) {
      event.preventDefault();
      event.stopPropagation();
      const from = cursor === null ? [Math.floor(view.cols / 2) - moves[0], Math.floor(view.rows / 2) - moves[1]] : placeOf(view, cursor);
      const x = Math.min(view.cols - 1, Math.max(0, from[0] + moves[0])), y = Math.min(view.rows - 1, Math.max(0, from[1] + moves[1]));
      setCursor(pointAt(view, x, y));
      setAnnounced(described(view, pointAt(view, x, y)));
    } else if ((event.key === "Enter" || event.key === " ") && cursor !== null) {
      event.preventDefault();
      take(cursor);
    }
  };
  const kind = [view.squares ? "squares" : "lines", `game-${view.game}`, `size-${view.size}`, mayPlay || pick ? "may-play" : ""].join(" ");
  return (
    <div class="board-frame" ref={frame} onPointerDownCapture={(event) => { pointer.current = event.pointerType; }}>
      <div class="board-focus" tabIndex={0} role="application" onKeyDown={press} onBlur={() => setCursor(null)} aria-label={labelOf(view, pick)}>
        <Goban
          class={kind} vertexSize={vertexSize} showCoordinates={memory.coordinates} {...maps}
          coordX={(x) => view.letters[x]} coordY={(y) => rowOf(view, turned(view, y))}
          selectedVertices={[cursor, mark].filter((point) => point !== null).map((point) => placeOf(view, point))}
          onVertexClick={(event, [x, y]) => choose(pointAt(view, x, y))}
          onVertexPointerEnter={(event, [x, y]) => event.pointerType === "mouse" && setHovered(pointAt(view, x, y))}
          onVertexPointerLeave={() => setHovered(null)}
        />
      </div>
      <div class="unseen" aria-live="assertive">{announced}</div>
    </div>
  );
}

function labelOf(view, pick) {
  const size = { size: sizes(view.cols, view.rows) };
  if (pick) return t("{size} board. Arrow keys choose a point, Enter marks it.", size);
  if (view.targets) return t("{size} board. Arrow keys choose a point, Enter takes a piece, then puts it.", size);
  return t("{size} board. Arrow keys choose a point, Enter plays there.", size);
}

/** What stands on a point, for a screen reader. */
function described(view, point) {
  const stone = [t("empty"), t("Black"), t("White")][view.stones[point]];
  const isDead = view.count?.dead.includes(point), mark = view.marks[point];
  const more = [view.last === point && t("last move"), isDead && t("dead"), mark && markInWords(mark)];
  return [nameOf(view, point), stone, ...more].filter(Boolean).join(", ");
}

/** Shudan's maps: stones, marks, heat, shading. */
function mapsOf({ view, look, overlay, preview, hint, isHidden, memory: { details, variations }, from, hovered, marksLegal }) {
  const stones = view.stones.map((colour) => SIGNS[colour]);
  const marks = Array(stones.length).fill(null), ghosts = Array(stones.length).fill(null);
  const heat = Array(stones.length).fill(null), shade = Array(stones.length).fill(0);
  const dimmed = [], lines = [];
  const draw = (origin, target, type) => view.targets && lines.push({ v1: placeOf(view, origin), v2: placeOf(view, target), type });
  if (view.last !== null) {
    marks[view.last] = { type: Object.values(view.marks).includes("CR") ? "point" : "circle" };
    draw(view.lastFrom, view.last, "line");
  }
  for (const [point, mark] of Object.entries(view.marks)) marks[point] = markerOf(mark);
  const ghost = { sign: view.toPlay === "black" ? 1 : -1 };
  if (variations && view.next.length > 1) for (const point of view.next) ghosts[point] = { ...ghost, faint: true };
  if (view.count) {
    view.count.owner.forEach((colour, point) => (shade[point] = FULL * SIGNS[colour]));
    for (const point of view.count.dead) {
      marks[point] = { type: "cross" };
      shade[point] = 0; // it would cover the cross
      dimmed.push(placeOf(view, point));
    }
  } else if (view.area && look?.ownership && overlay.ownership) {
    const shadeOf = (owner) => (Math.abs(owner) < LEAST_OWNED ? 0 : FULL * (Math.sign(owner) * FAINTEST + (1 - FAINTEST) * owner));
    look.ownership.forEach((owner, point) => (shade[point] = shadeOf(owner)));
  }
  if (look && overlay.moves !== "none" && !preview) {
    const isPolicy = overlay.moves === "policy", shareOf = (move) => (isPolicy ? move.prior : move.visits);
    const shown = isPolicy ? look.moves.filter((move) => move.prior >= LEAST_PRIOR) : candidates(look.moves, details).slice(0, BEST);
    const best = Math.max(...shown.map(shareOf), 0.0001);
    for (const [index, move] of shown.entries()) {
      if (move.point >= stones.length) continue;
      if (index < ARROWS) draw(move.from, move.point, "arrow");
      if ((stones[move.point] && !view.targets) || heat[move.point]) continue;
      const text = isPolicy ? percent(move.prior).replace(" %", "") : `${(100 * move.chance).toFixed(0)}${details ? `\n${short(move.visits)}` : ""}`;
      heat[move.point] = { strength: Math.max(1, Math.round((9 * shareOf(move)) / best)), text };
    }
  }
  if (hint !== null && hint.point < stones.length) {
    marks[hint.point] = { type: "triangle" };
    draw(hint.from, hint.point, "arrow");
  }
  if (from !== null) for (const point of view.targets[from] ?? []) marks[point] = { type: "point" };
  if (!preview && !isHidden) for (const move of view.review.last) if (stones[move.point]) heat[move.point] ??= { strength: `dot${move.grade}` };
  const played = preview?.played;
  if (played && played.point < stones.length && !view.targets) heat[played.point] = { strength: `loss${played.grade}`, text: lossOf(view, played) };
  if (marksLegal && !look && !preview) for (const point of view.legal) marks[point] ??= { type: "point" };
  if (preview) showLine(view, preview, stones, marks, dimmed);
  else if (hovered !== null && !stones[hovered] && view.legal.includes(hovered)) ghosts[hovered] = ghost;
  return {
    signMap: grid(view, stones),
    markerMap: grid(view, marks),
    ghostStoneMap: grid(view, ghosts),
    heatMap: grid(view, heat),
    paintMap: grid(view, shade),
    dimmedVertices: dimmed,
    lines: view.hexagons ? diagonals(view) : preview ? [] : lines,
  };
}

/** What a mistake lost, as it is written on its point. */
const lossOf = ({ review }, move) => (review.measure === "points" ? signed(-move.points, move.points < 10 ? 1 : 0) : `${signed(-100 * move.loss, 0)}%`);

/** The third of the three ways in which the points of a board of hexagons touch. */
function diagonals({ cols, rows }) {
  return Array.from({ length: cols + rows - 3 }, (_, index) => {
    const sum = index + 1, right = Math.min(sum, cols - 1), left = Math.max(0, sum - rows + 1);
    return { v1: [left, sum - left], v2: [right, sum - right], type: "line" };
  });
}

/** The moves of an expected line with their numbers, as they would be put down one after the other. */
function showLine(view, preview, stones, marks, dimmed) {
  let sign = preview.first === "black" ? 1 : -1;
  preview.points.forEach(([from, point], index) => {
    if (point < stones.length && (!stones[point] || view.targets)) {
      stones[from] = 0;
      stones[point] = sign;
      marks[point] = { type: "label", label: String(index + 1) };
      dimmed.push(placeOf(view, point));
    }
    sign = -sign;
  });
}

