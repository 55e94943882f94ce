// The card with the tree of moves: where one is, what may be done to a variation, the tools that mark points.

import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { Dialog } from "./controls.jsx";
import { beside, layoutOf } from "./layout.js";
import { MarkTools } from "./marks.jsx";
import { t } from "./translate.js";

const STEP = 26, STONE = 8, BEND = 8, MOST_ROWS = 6; // pixels from node to node, of a stone, of a bend; rows that are in sight
const AHEAD = 3; // nodes that are in sight around the one where one is
const HAS_COMMENT = 1, IS_MISTAKE = 2; // bits of a node's sign

export function Variations({ view, tree, go, ask, isHidden, tool, onTool }) {
  const [deleting, setDeleting] = useState(null); // the node that will be deleted if the dialog says so
  const plan = useMemo(() => tree && layoutOf(tree), [tree]);
  const at = tree ? tree.nodes.indexOf(view.at) : -1;
  if (!tree || tree.identity !== view.identity) return null;
  const remove = () => (tree.parents.includes(at) ? setDeleting(view.at) : ask("delete", { node: view.at }));
  return (
    <section class="card" aria-label={t("Moves and variations")}>
      <h2>{t("Moves and variations")}</h2>
      <Tree tree={tree} plan={plan} at={at} line={view.line} go={go} isHidden={isHidden} />
      <div class="options">
        <button type="button" disabled={at < 0 || !plan.rows[at]} onClick={() => ask("promote", { node: view.at })}>{t("Make main line")}</button>
        <button type="button" disabled={at <= 0} onClick={remove}>{t("Delete move")}</button>
      </div>
      <MarkTools tool={tool} onTool={onTool} />
      {deleting !== null && <Dialog isSmall title={t("Delete this move and all moves after it?")} no={t("Cancel")} yes={t("Delete")} onYes={() => ask("delete", { node: deleting })} onClose={() => setDeleting(null)} />}
    </section>
  );
}

/** Draws what is in sight. */
function Tree({ tree, plan, at, line, go, isHidden }) {
  const frame = useRef(null);
  const [sight, setSight] = useState({ left: 0, top: 0, width: 0, height: 0 });
  const look = () => {
    const { scrollLeft: left, scrollTop: top, clientWidth: width, clientHeight: height } = frame.current;
    setSight({ left, top, width, height });
  };
  useEffect(() => {
    const watch = new ResizeObserver(look);
    watch.observe(frame.current);
    return () => watch.disconnect();
  }, []);
  useLayoutEffect(() => {
    if (at < 0) return;
    const { left, top, width, height } = sight;
    frame.current.scrollTo(inSight(left, width, plan.columns[at]), inSight(top, height, plan.rows[at]));
  }, [plan.columns[at], plan.rows[at], sight.width]);
  const isSeen = (node) => isNear(plan.columns[node], sight.left, sight.width) && isNear(plan.rows[node], sight.top, sight.height);
  const shown = useMemo(() => new Set(line), [line]);
  const press = (event) => {
    const by = { ArrowUp: -1, ArrowDown: 1 }[event.key];
    if (!by || at < 0) return;
    event.preventDefault();
    go(tree.nodes[beside(plan, at, by)]);
  };
  const click = (event) => {
    const box = event.currentTarget.getBoundingClientRect();
    const column = Math.floor((event.clientX - box.left) / STEP), row = Math.floor((event.clientY - box.top) / STEP);
    go(tree.nodes[plan.columns.findIndex((other, node) => other === column && plan.rows[node] === row)]);
  };
  return (
    <div class="tree" ref={frame} tabIndex={0} role="application" aria-label={t("Tree of moves. Left and right arrow keys walk through the moves, up and down change the variation.")} onScroll={look} onKeyDown={press} style={{ height: `${STEP * Math.min(MOST_ROWS, plan.height) + 14}px` }}>
      <svg width={STEP * plan.width} height={STEP * plan.height} onClick={click} aria-hidden="true">
        {plan.lines.filter((found) => isLineSeen(plan, found, sight)).map((found) => (
          <path key={tree.nodes[found.nodes[0]]} d={pathOf(plan, found.parent, found.nodes)} />
        ))}
        <path class="shown" d={shownPath(tree, plan, shown, isSeen)} />
        {[...tree.nodes.keys()].filter(isSeen).map((index) => <Node key={tree.nodes[index]} x={middle(plan.columns[index])} y={middle(plan.rows[index])} colour={tree.colours[index]} sign={tree.signs[index] & (isHidden ? HAS_COMMENT : ~0)} isHere={index === at} />)}
      </svg>
    </div>
  );
}

function Node({ x, y, colour, sign, isHere }) {
  return (
    <g transform={`translate(${x},${y})`} class={isHere ? "node here" : "node"}>
      {isHere && <circle class="ring" r={STONE + 3.5} />}
      {colour === "0" ? <rect class="root" x="-6" y="-6" width="12" height="12" transform="rotate(45)" /> : <circle class={colour === "1" ? "black" : "white"} r={STONE} />}
      {sign & IS_MISTAKE ? <text class={colour === "1" ? "on-black" : "on-white"} y="4">?</text> : null}
      {sign & HAS_COMMENT ? <rect class="commented" x="4" y="-11" width="7" height="7" /> : null}
    </g>
  );
}

const middle = (place) => STEP * (place + 0.5);
const isNear = (place, from, length) => STEP * (place + 2) >= from && STEP * (place - 1) <= from + length;

/** Where a frame has to be scrolled to so that a place is well in sight. */
function inSight(from, length, place) {
  const room = Math.min(AHEAD * STEP, (length - STEP) / 2);
  return Math.max(0, Math.min(STEP * place - room, Math.max(from, STEP * (place + 1) + room - length)));
}

function isLineSeen({ columns, rows }, { parent, nodes }, { left, top, width, height }) {
  const first = columns[parent] ?? 0, last = columns[nodes.at(-1)], high = rows[parent] ?? 0, low = rows[nodes[0]];
  return STEP * first <= left + width && STEP * (last + 1) >= left && STEP * high <= top + height && STEP * (low + 1) >= top;
}

/** From a node's parent, behind which it goes down between two columns, to a node and along its row. */
function pathOf({ columns, rows }, parent, nodes) {
  const y = middle(rows[nodes[0]]), end = `H${middle(columns[nodes.at(-1)])}`;
  if (parent < 0) return `M${middle(0)} ${y}${end}`;
  const x = middle(columns[parent]), above = middle(rows[parent]);
  return `M${x} ${above}${above === y ? "" : `h${STEP / 2}V${y - BEND}q0 ${BEND} ${BEND} ${BEND}`}${end}`;
}

/** The part of the line shown on the board that is in sight. */
const shownPath = ({ nodes, parents }, plan, shown, isSeen) =>
  nodes.map((node, index) => (index && shown.has(node) && (isSeen(index) || isSeen(parents[index])) ? pathOf(plan, parents[index], [index]) : "")).join("");
