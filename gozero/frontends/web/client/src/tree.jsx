// The card with the tree of moves: where one is, what may be done to a variation, the tools that mark points.

import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { Card, Dialog } from "./controls.jsx";
import { MarkTools } from "./marks.jsx";
import { usePage } from "./server.js";
import { t } from "./translate.js";

const STEP = 26, STONE = 8, BEND = 8, MOST_ROWS = 6; // pixels from node to node, of a stone, of a bend; rows that are in sight
const AHEAD = 3; // nodes that are in sight around the one where one is
const HAS_COMMENT = 1, IS_MISTAKE = 2; // bits of a node's sign

export function Variations() {
  const { view, tree, ask, tool, setTool } = usePage();
  const [deleting, setDeleting] = useState(null); // the node that will be deleted if the dialog says so
  const plan = useMemo(() => tree && layoutOf(tree), [tree]);
  if (!tree || tree.identity !== view.identity) return null;
  const at = tree.nodes.indexOf(view.at);
  const remove = () => (tree.parents.includes(at) ? setDeleting(view.at) : ask("delete", { node: view.at }));
  return (
    <Card title={t("Moves and variations")}>
      <Tree plan={plan} at={at} />
      <div class="options">
        <button type="button" disabled={at < 0 || !plan.rows[at]} onClick={() => ask("promote", { node: view.at })}>{t("Make main line")}</button>
        <button type="button" disabled={at <= 0} onClick={remove}>{t("Delete move")}</button>
      </div>
      <MarkTools tool={tool} onTool={setTool} />
      {deleting !== null && (
        <Dialog
          isSmall title={t("Delete this move and all moves after it?")} yes={t("Delete")}
          onYes={() => ask("delete", { node: deleting })} onClose={() => setDeleting(null)}
        />
      )}
    </Card>
  );
}

/** Draws all lines, and the nodes that are in sight. */
function Tree({ plan, at }) {
  const { view: { line }, tree, go, isHidden } = usePage();
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
  const lines = useMemo(() => plan.lines.map(({ parent, nodes }) => pathOf(plan, parent, nodes)).join(""), [plan]);
  const shown = useMemo(() => shownPath(tree, plan, new Set(line)), [plan, line]);
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
    <div
      class="tree" ref={frame} tabIndex={0} role="application" onScroll={look} onKeyDown={press}
      aria-label={t("Tree of moves. Left and right arrow keys walk through the moves, up and down change the variation.")}
      style={{ height: `${STEP * Math.min(MOST_ROWS, plan.height) + 14}px` }}
    >
      <svg width={STEP * plan.width} height={STEP * plan.height} onClick={click} aria-hidden="true">
        <path d={lines} />
        <path class="shown" d={shown} />
        {tree.nodes.map((number, node) => isSeen(node) && (
          <Node
            key={number} x={middle(plan.columns[node])} y={middle(plan.rows[node])} colour={tree.colours[node]}
            sign={tree.signs[node] & (isHidden ? HAS_COMMENT : ~0)} isHere={node === at}
          />
        ))}
      </svg>
    </div>
  );
}

function Node({ x, y, colour, sign, isHere }) {
  return (
    <g transform={`translate(${x},${y})`} class={isHere ? "node here" : "node"}>
      {isHere && <circle class="ring" r={STONE + 3.5} />}
      {colour === "0"
        ? <rect class="root" x="-6" y="-6" width="12" height="12" transform="rotate(45)" />
        : <circle class={colour === "1" ? "black" : "white"} r={STONE} />}
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

/** From a node's parent, behind which it goes down between two columns, to a node and along its row. */
function pathOf({ columns, rows }, parent, nodes) {
  const y = middle(rows[nodes[0]]), end = `H${middle(columns[nodes.at(-1)])}`;
  if (parent < 0) return `M${middle(0)} ${y}${end}`;
  const x = middle(columns[parent]), above = middle(rows[parent]);
  return `M${x} ${above}${above === y ? "" : `h${STEP / 2}V${y - BEND}q0 ${BEND} ${BEND} ${BEND}`}${end}`;
}

/** The line that is shown on the board. */
const shownPath = ({ nodes, parents }, plan, shown) =>
  nodes.map((number, node) => (node && shown.has(number) ? pathOf(plan, parents[node], [node]) : "")).join("");

/**
 * Columns and rows of the nodes of a report "tree", and its lines: {parent, nodes}, each straight. The last variations are
 * placed first, so that an earlier one fits into a row where it ends before what is there.
 */
function layoutOf({ parents }) {
  const children = parents.map(() => []);
  parents.forEach((parent, node) => children[parent]?.push(node));
  const columns = new Array(parents.length).fill(0), rows = new Array(parents.length).fill(0);
  const lines = [], pending = [{ parent: -1, first: 0 }];
  const edges = []; // for each row, the column before the first one that is taken
  while (pending.length) {
    const { parent, first } = pending.pop();
    const nodes = [];
    for (let node = first; node !== undefined; node = children[node][0]) nodes.push(node);
    const start = parent < 0 ? 0 : columns[parent] + 1, end = start + nodes.length - 1;
    let row = parent < 0 ? 0 : rows[parent] + 1;
    while (edges[row] <= end) row++;
    edges[row] = Math.min(edges[row] ?? start - 1, start - 1);
    for (const [index, node] of nodes.entries()) {
      columns[node] = start + index;
      rows[node] = row;
      for (const other of children[node].slice(1).reverse()) pending.push({ parent: node, first: other });
    }
    lines.push({ parent, nodes });
  }
  return { columns, rows, lines, width: Math.max(...lines.map(({ nodes }) => columns[nodes.at(-1)])) + 1, height: edges.length };
}

/** The node of the same move in the next variation above (-1) or below (1), if there is one. */
function beside({ columns, rows }, node, by) {
  const level = [...columns.keys()].filter((other) => columns[other] === columns[node]).sort((one, other) => rows[one] - rows[other]);
  return level[level.indexOf(node) + by];
}
