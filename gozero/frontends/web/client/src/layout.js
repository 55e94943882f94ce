// Where the nodes of a tree of moves are drawn: moves from left to right, the main line on top, variations below.

/**
 * Columns and rows of the nodes of a report "tree", and its lines: {parent, nodes}, each straight. The last variations are
 * placed first, so that an earlier one fits into a row where it ends before what is there.
 */
export function layoutOf({ parents }) {
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
export function beside({ columns, rows }, node, by) {
  const level = [...columns.keys()].filter((other) => columns[other] === columns[node]).sort((one, other) => rows[one] - rows[other]);
  return level[level.indexOf(node) + by];
}
