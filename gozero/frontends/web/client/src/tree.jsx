// The card with the tree of moves: where one is, what may be done to a variation, the tools that mark points.

import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { Button, Card, Dialog } from "./controls.jsx";
import { MarkTools } from "./marks.jsx";
import { usePage } from "./server.js";
import { t } from "./translate.js";

const STEP = 26, RING = 11.5, BEND = 8, MOST_ROWS = 6; // pixels from node to node, of the ring, of a bend; rows in sight
const COLOURS = ["root", "black", "white"]; // of a node, by its number
const HAS_COMMENT = 1, IS_MISTAKE = 2; // bits of a node's sign

export function Variations() {
  const { view, tree, ask } = usePage();
  const [deleting, setDeleting] = useState(null); // the node that will be deleted if the dialog says so
  const plan = useMemo(() => tree && layoutOf(tree), [tree]);
  if (!tree || tree.identity !== view.identity) return null;
  const at = tree.nodes.indexOf(view.at);
  const remove = () => (tree.parents.includes(at) ? setDeleting(view.at) : ask("delete", { node: view.at }));
  return (
    <Card title={t("Moves and variations")}>
      <Tree plan={plan} at={at} />
      <div class="options">
        <Button disabled={at < 0 || !plan.rows[at]} onClick={() => ask("promote", { node: view.at })}>{t("Make main line")}</Button>
        <Button disabled={at <= 0} onClick={remove}>{t("Delete move")}</Button>
      </div>
      <MarkTools />
      {deleting !== null && (
        <Dialog
          class="small" title={t("Delete this move and all moves after it?")} yes={t("Delete")}
          onYes={() => ask("delete", { node: deleting })} onClose={() => setDeleting(null)}
        />
      )}
    </Card>
  );
}

/** Draws the lines, then the nodes on them: those of a kind as one path, however many they are. */
function Tree({ plan, at }) {
  const { view: { line }, tree, go, isHidden } = usePage();
  const frame = useRef(null);
  const [x, y] = at < 0 ? [0, 0] : placeOf(plan, at);
  useLayoutEffect(() => frame.current.scrollTo(x - frame.current.clientWidth / 2, y - frame.current.clientHeight / 2), [x, y]);
  const drawn = useMemo(() => drawingOf(tree, plan), [plan]);
  const shown = useMemo(() => {
    const nodes = new Set(line);
    return tree.nodes.map((number, node) => (nodes.has(number) ? lineTo(plan, node) : "")).join("");
  }, [plan, line]);
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
      class="tree" ref={frame} tabIndex={0} role="application" onKeyDown={press}
      aria-label={t("Tree of moves. Left and right arrow keys walk through the moves, up and down change the variation.")}
      style={{ height: `${STEP * Math.min(MOST_ROWS, plan.height) + 14}px` }}
    >
      <svg width={STEP * plan.width} height={STEP * plan.height} onClick={click} aria-hidden="true">
        <path d={drawn.lines} />
        <path class="shown" d={shown} />
        {at >= 0 && <circle class="ring" cx={x} cy={y} r={RING} />}
        {COLOURS.map((colour) => <><path class="edge" d={drawn[colour]} /><path class={colour} d={drawn[colour]} /></>)}
        {!isHidden && drawn.mistakes}
        <path class="commented" d={drawn.commented} />
      </svg>
    </div>
  );
}

/** The paths of the tree: its lines, the nodes of each colour, the signs for comments and marks; the mistakes as texts. */
function drawingOf({ colours, signs }, plan) {
  const drawn = { lines: "", root: "", black: "", white: "", commented: "", mistakes: [] };
  for (const node of plan.rows.keys()) {
    const [x, y] = placeOf(plan, node), colour = COLOURS[colours[node]];
    drawn.lines += lineTo(plan, node);
    drawn[colour] += `M${x} ${y}h0`;
    if (signs[node] & HAS_COMMENT) drawn.commented += `M${x + 7.5} ${y - 7.5}h0`;
    if (signs[node] & IS_MISTAKE) drawn.mistakes.push(<text class={`on-${colour}`} x={x} y={y + 4}>?</text>);
  }
  return drawn;
}

const middle = (place) => STEP * (place + 0.5);
const placeOf = ({ columns, rows }, node) => [middle(columns[node]), middle(rows[node])];

/** The line to a node: from its parent, behind which it goes down between two columns, along the node's row. */
function lineTo(plan, node) {
  if (node === 0) return "";
  const [x, y] = placeOf(plan, node), [from, above] = placeOf(plan, plan.parents[node]);
  return `M${from} ${above}${above === y ? "" : `h${STEP / 2}V${y - BEND}q0 ${BEND} ${BEND} ${BEND}`}H${x}`;
}

/**
 * Columns and rows of the nodes of a report "tree". A node's first child is in its row. The last variations are placed
 * first, so that an earlier one fits into a row where it ends before what is there.
 */
function layoutOf({ parents }) {
  const children = parents.map(() => []);
  parents.forEach((parent, node) => children[parent]?.push(node));
  const columns = new Array(parents.length).fill(0), rows = new Array(parents.length).fill(0);
  const pending = [0]; // first nodes of variations
  const edges = []; // for each row, the column before the first one that is taken
  let width = 0;
  while (pending.length) {
    const nodes = [];
    for (let node = pending.pop(); node !== undefined; node = children[node][0]) nodes.push(node);
    const parent = parents[nodes[0]], start = parent < 0 ? 0 : columns[parent] + 1, end = start + nodes.length - 1;
    let row = parent < 0 ? 0 : rows[parent] + 1;
    while (edges[row] <= end) row++;
    edges[row] = Math.min(edges[row] ?? start - 1, start - 1);
    width = Math.max(width, end + 1);
    for (const [index, node] of nodes.entries()) {
      columns[node] = start + index;
      rows[node] = row;
      pending.push(...children[node].slice(1).reverse());
    }
  }
  return { parents, columns, rows, width, height: edges.length };
}

/** The node of the same move in the next variation above (-1) or below (1), if there is one. */
function beside({ columns, rows }, node, by) {
  const level = [...columns.keys()].filter((other) => columns[other] === columns[node]).sort((one, other) => rows[one] - rows[other]);
  return level[level.indexOf(node) + by];
}
