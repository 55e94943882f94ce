// Shows the games of a tournament. It knows no rules: every move comes with the points that it changes.
"use strict";
(() => {
  const element = (id) => document.getElementById(id);
  if (!element("data")) return;
  const data = JSON.parse(element("data").textContent);
  const { rows, cols, games, entrants } = data;
  const letters = "ABCDEFGHJKLMNOPQRSTUVWXYZ";
  let game = null;
  let ply = 0;

  function svg(name, attributes, text) {
    const made = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    if (text !== undefined) made.textContent = text;
    element("board").append(made);
  }

  function grid() {
    const inset = data.lines ? 0 : 0.5; // stones on crossings, or in squares
    for (let row = 0; row < rows + 2 * inset; row++)
      svg("line", { class: "line", x1: -inset, x2: cols - 1 + inset, y1: row - inset, y2: row - inset });
    for (let col = 0; col < cols + 2 * inset; col++)
      svg("line", { class: "line", x1: col - inset, x2: col - inset, y1: -inset, y2: rows - 1 + inset });
    for (let row = 0; row < rows; row++) svg("text", { x: -0.85, y: row }, rows - row);
    for (let col = 0; col < cols; col++) svg("text", { x: col, y: rows - 0.15 }, letters[col]);
  }

  function stones() {
    const board = new Uint8Array(rows * cols);
    for (const change of game.s.slice(0, ply + 1))
      for (let at = 0; at < change.length; at += 2) board[change[at]] = change[at + 1];
    return board;
  }

  function draw() {
    element("board").setAttribute("viewBox", `-1.3 -0.8 ${cols + 1.2} ${rows + 1.2}`);
    element("board").replaceChildren();
    grid();
    stones().forEach((colour, point) => {
      const place = { cx: point % cols, cy: Math.floor(point / cols) };
      if (colour) svg("circle", { class: colour === 1 ? "black" : "white", r: 0.46, ...place });
    });
    const move = ply ? game.m[ply - 1] : "";
    const point = /^[A-Z]\d+$/.test(move) ? [letters.indexOf(move[0]), rows - Number(move.slice(1))] : null;
    if (point) svg("circle", { class: "last", r: 0.22, cx: point[0], cy: point[1] });
    element("move").value = ply;
    const last = ply ? `move ${ply} of ${length()}: ${game.c[ply - 1] === "B" ? "Black" : "White"} ${move}` : `${length()} moves`;
    const end = ply === length() ? `. ${game.r}, ${game.e}${game.d ? `: ${game.d}` : ""}` : "";
    element("said").textContent = last + end;
  }

  const length = () => Math.min(game.m.length, game.s.length - 1);

  function go(to) {
    if (!game) return;
    ply = Math.max(0, Math.min(length(), to));
    draw();
  }

  function open(number) {
    game = games[number];
    element("move").max = length();
    element("title").textContent = `${entrants[game.b]} (Black) – ${entrants[game.w]} (White), ${game.r}, ${game.f}`;
    go(0);
  }

  function list() {
    const [entrant, other] = [element("entrant").value, element("other").value];
    const plays = (played, name) => name === "" || entrants[played.b] === name || entrants[played.w] === name;
    const shown = games.map((played, number) => [played, number]).filter(([played]) =>
      plays(played, entrant) && plays(played, other) && (!element("faulty").checked || played.d));
    element("games").replaceChildren(...shown.map(([played, number]) =>
      new Option(`${entrants[played.b]} – ${entrants[played.w]} #${played.i}: ${played.r}, ${played.m.length} moves${played.d ? " !" : ""}`, number)));
    element("count").textContent = `${shown.length} games`;
    if (shown.length) {
      element("games").selectedIndex = 0;
      open(shown[0][1]);
    } else {
      game = null;
      for (const id of ["board", "title", "said"]) element(id).replaceChildren();
    }
  }

  for (const name of entrants) for (const id of ["entrant", "other"]) element(id).add(new Option(name, name));
  for (const id of ["entrant", "other", "faulty"]) element(id).addEventListener("change", list);
  element("games").addEventListener("change", () => open(Number(element("games").value)));
  element("move").addEventListener("input", () => go(Number(element("move").value)));
  const steps = { first: () => 0, back: () => ply - 1, on: () => ply + 1, last: () => length() };
  for (const button of document.querySelectorAll("[data-go]"))
    button.addEventListener("click", () => go(steps[button.dataset.go]()));
  for (const button of document.querySelectorAll(".cross button"))
    button.addEventListener("click", () => {
      element("entrant").value = button.dataset.a;
      element("other").value = button.dataset.b;
      list();
      element("browser").scrollIntoView({ behavior: "smooth" });
    });
  element("board").addEventListener("click", (event) => {
    const box = element("board").getBoundingClientRect();
    go(ply + (event.clientX > box.left + box.width / 2 ? 1 : -1));
  });
  document.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: "back", ArrowRight: "on", Home: "first", End: "last" }[event.key];
    if (!step || /^(SELECT|INPUT)$/.test(event.target.tagName)) return;
    event.preventDefault();
    go(steps[step]());
  });
  list();
})();
