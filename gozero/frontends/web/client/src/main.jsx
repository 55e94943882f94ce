// The page: it shows what the server reports, and asks the server for everything else.

import { render } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { Board, isCrowded, nameOf, vertexOf } from "./board.jsx";
import { Connection } from "./connection.js";
import { Check, Choice, Dialog } from "./controls.jsx";
import { MyGames } from "./mygames.jsx";
import { Lessons } from "./lessons.jsx";
import { NewGame } from "./newgame.jsx";
import { Analysis, Count, Game, Opponent, Review, Status } from "./panels.jsx";
import { Loss, otherMistake } from "./review.jsx";
import { Players } from "./players.jsx";
import { click, remember, remembered } from "./remembered.js";
import { bytesOf, download } from "./records.js";
import { Variations } from "./tree.jsx";
import { useWalk } from "./walking.js";
import { Ended, endWords, hintWords, resultWords, Warning } from "./teaching.jsx";
import { LANGUAGES, speak, t } from "./translate.js";
import { side } from "./words.js";
import "./style.css";

const LARGEST_RECORD = 1_000_000; // bytes

/** What the server has reported, and `ask`, which sends a request; false if the connection is broken. */
function useServer() {
  const [state, setState] = useState({ view: null, tree: null, look: null, hello: null, notice: null, loading: "", progress: null, hint: null, games: null, isKept: false, list: null, lessons: null, open: true });
  const connection = useRef(null);
  const change = (more) => setState((now) => ({ ...now, ...(typeof more === "function" ? more(now) : more) }));
  useEffect(() => {
    const on = {
      hello: (report) => ({ hello: report, loading: "", notice: greeting(report) }),
      view: (report) => (now) => seen(now, report),
      tree: (report) => ({ tree: report }),
      look: (report) => (now) => (now.view?.at === report.node ? looked(now, report) : {}),
      refused: ({ text }) => ({ notice: { kind: "refused", text } }),
      lost: ({ text }) => (now) => ({ notice: { kind: "lost", text }, loading: "", view: now.view && stopped(now.view) }),
      message: ({ text }) => ({ notice: { kind: "message", text } }),
      loading: ({ text }) => ({ loading: text }),
      speed: ({ speed }) => (now) => now.view && { view: { ...now.view, speed } },
      progress: (report) => (now) => progressed(now, report),
      snapshot: ({ saved }) => ({ isKept: saved !== null }),
      unstored: ({ text }) => ({ notice: { kind: "warning", text } }),
      list: ({ games }) => ({ list: games }),
      games: ({ titles }) => ({ games: titles }),
      lessons: (report) => ({ lessons: report }),
      record: ({ name, text }) => download(name, text),
    };
    connection.current = new Connection((report) => change(on[report.is]?.(report) ?? {}), (open) => change({ open }));
  }, []);
  const ask = (what, more) => {
    change((now) => ({ notice: null, hint: null, ...(what === "analyse" && now.view ? switched(now, more.on) : {}) }));
    const isSent = connection.current.ask(what, more);
    if (!isSent) change({ notice: { kind: "lost", text: t("No connection to the server: nothing was sent.") } });
    return isSent;
  };
  return { ...state, ask, forgetGames: () => change({ games: null, list: null }), forgetLessons: () => change({ lessons: null }), refuse: (text) => change({ notice: { kind: "refused", text } }) };
}

function greeting({ restored, lost }) {
  if (restored) return { kind: "message", text: t("The server did not have this game. Your browser restored it.") };
  return lost ? { kind: "warning", text: t("The game at this address was not found on the server or in this browser. This is a new game.") } : null;
}

/** A view without an engine: no search, and both clocks stopped. */
const stopped = (view) => ({ ...view, thinking: false, analysing: false, batch: false, clock: view.clock && { ...view.clock, running: null } });

/** The analysis is shown as on or off at once; the server's answer says the same. */
const switched = (now, on) => ({ view: { ...now.view, analysing: on }, look: on ? now.look : null });

function seen(now, view) {
  const isOther = now.view?.identity !== view.identity, isNew = isOther || now.view.at !== view.at;
  if (isNew && !isOther && view.number > now.view.number && remembered().sound) click();
  const leaves = isOther && now.view?.goingOn && now.view.line.length > 1;
  const stale = isNew || !view.analysing || !view.toPlay;
  return {
    view, look: stale && !(now.look?.hint && !isNew) ? null : now.look, hint: isNew ? null : now.hint, progress: view.batch ? now.progress : null,
    ...(leaves && { notice: { kind: "message", text: t("You can continue your previous game from My games.") } }),
  };
}

/** The graph with what is known of another node. */
function known(view, node, point) {
  const index = view.line.indexOf(node);
  return index < 0 || !point ? view : { ...view, graph: view.graph.with(index, point) };
}

function progressed({ view }, report) {
  const found = view && report.points.reduce((graph, [node, point]) => known(graph, node, point), view);
  return { progress: report, ...(view && { view: { ...found, review: report.review } }) };
}

function looked(now, look) {
  const view = known(now.view, look.node, { black: look.black, score: look.score, visits: look.visits });
  if (!look.hint) return now.view.analysing ? { look, view } : {};
  const [best] = look.moves;
  const line = best.points.length > 1 ? { points: best.points, first: look.toPlay, node: look.node } : null;
  return { view, hint: { from: best.from, point: best.point }, notice: { kind: "message", text: hintWords(view, look, !hides(view, remembered())), line } };
}

/** Whether a game is being played that must not show who leads. */
const hides = (view, memory) => view.goingOn && !view.analysing && !memory.leads;

function Page() {
  const server = useServer();
  const { view, look, hello, ask } = server;
  const [memory, setMemory] = useState(remembered);
  const [overlay, setOverlay] = useState({ moves: "moves", ownership: true });
  const [preview, setPreview] = useState(null);
  const [who, setWho] = useState("both"); // whose mistakes are shown
  const [dialog, setDialog] = useState(null); // "new" or "resign"
  const [marked, setMarked] = useState(null); // a point that was tapped once
  const [marking, setMarking] = useState(null); // the game whose points are marked, and with what
  const [isDropping, setIsDropping] = useState(false);
  const file = useRef(null), record = useRef(null); // the field for a file; what was read last
  const keep = (more) => setMemory((now) => ({ ...now, ...more }));
  useEffect(() => {
    remember(memory);
    document.documentElement.dataset.theme = memory.theme;
  }, [memory]);
  speak(memory.language);
  const { go, step } = useWalk(server);
  const open = async (chosen) => {
    if (!chosen || !view) return;
    if (chosen.size > LARGEST_RECORD) server.refuse(t("{name} has {size} bytes; a record has at most {most}.", { name: chosen.name, size: chosen.size.toLocaleString("en"), most: LARGEST_RECORD.toLocaleString("en") }));
    else {
      const data = await bytesOf(chosen);
      record.current = { data, name: chosen.name };
      if (data === null) server.refuse(t("{name} cannot be read. Is it a file?", { name: chosen.name }));
      else ask("load", record.current);
    }
  };
  const drop = (event, isOver, chosen) => {
    event.preventDefault();
    setIsDropping(isOver);
    open(chosen);
  };
  const showMistake = (move) => {
    go(move.before);
    setPreview({ points: move.betterPoints, first: move.colour, node: move.before, played: move });
  };
  const stepMistake = (by) => {
    const move = !view.goingOn && otherMistake(view, who, by);
    if (move) showMistake(move);
  };
  useShortcuts({ view, go, step, stepMistake, ask, isOpen: dialog || server.games || server.list || server.lessons });

  if (!view || !hello) return <p class="starting">{server.open ? server.notice?.text || server.loading || t("Setting up the board…") : t("The server does not answer. Is gozero web still running? It serves at most 32 pages at once.")}{server.open && server.notice?.kind === "refused" && <> <a href="/">{t("Begin a new game")}</a></>}</p>;
  const game = hello.games.find((entry) => entry.name === view.game);
  const network = game?.engines.find((entry) => entry.label === (view.engine ?? "")) ?? game?.engines[0];
  const isMine = view.live !== null || view.person;
  const mark = marked?.node === view.at ? marked.point : null;
  const tool = marking?.game === view.identity ? marking.tool : null;
  const play = (vertex) => {
    setMarked(null);
    ask(view.count?.disputable ? "dead" : "play", { vertex, at: view.at, warn: memory.warns });
  };
  const hasEnded = view.ending && view.person && view.at === view.live;
  const turn = view.over ? "over" : view.thinking ? "engine" : "person";
  return (
    <div
      class={isDropping ? "page dropping" : "page"} data-move={view.number} data-turn={turn} data-game={view.identity}
      onDragOver={(event) => drop(event, true)} onDrop={(event) => drop(event, false, event.dataTransfer.files[0])}
      onDragLeave={(event) => event.relatedTarget === null && setIsDropping(false)}
    >
      <header>
        <h1>gozero <span class="quiet">{game && t(game.title)}</span></h1>
        <button type="button" class="steps" onClick={() => ask("lessons", { game: view.game })}>{t("First steps")}</button>
        <button type="button" class="main" onClick={() => setDialog("new")}>{t("New game")}</button>
        <button type="button" onClick={() => ask("list")}>{t("My games")}</button>
        <button type="button" class="gear" popovertarget="settings" aria-label={t("Settings")} title={t("Settings")}>⚙</button>
        <div id="settings" class="card" popover="auto">
          <Check label={t("Sound")} on={memory.sound} onChange={(sound) => keep({ sound })} />
          <Check label={t("Warn me after a bad move")} on={memory.warns} onChange={(warns) => keep({ warns })} />
          <Check label={t("Show who leads while I play")} on={memory.leads} onChange={(leads) => keep({ leads })} />
          {view.game === "othello" && <Check label={t("Mark where I may play")} on={memory.legal} onChange={(legal) => keep({ legal })} />}
          <Check label={t("Coordinates")} on={memory.coordinates} onChange={(coordinates) => keep({ coordinates })} />
          <Check label={t("Show variations")} on={memory.variations} onChange={(variations) => keep({ variations })} />
          <Choice label={t("Colours")} value={memory.theme} options={[["auto", t("as the system's")], ["light", t("light")], ["dark", t("dark")]]} onChange={(theme) => keep({ theme })} />
          <Choice label={t("Language")} value={memory.language} options={[["auto", t("as the browser's")], ...LANGUAGES]} onChange={(language) => keep({ language })} />
        </div>
      </header>
      <main>
        <div class="playing">
          {!server.open && <p class="notice lost" role="alert">{server.isKept ? t("The connection to the server is broken; trying again. This page keeps the game.") : t("The connection to the server is broken; trying again. The game is too large for this page to keep.")}</p>}
          <Players view={view} />
          <Board
            view={view} look={look} overlay={overlay} preview={preview?.node === view.at ? preview : null} hint={server.hint} marked={mark} details={memory.details}
            isHidden={hides(view, memory)} onPlay={play} onMark={(point) => setMarked({ node: view.at, point })} variations={memory.variations}
            onPick={tool && ((point) => ask("mark", { node: view.at, point, mark: tool }))} coordinates={memory.coordinates} marksLegal={view.game === "othello" && memory.legal}
          />
          {hasEnded ? <Ended view={view} ask={ask} /> : <div class="actions" role="group" aria-label={t("Moves")}>
            {isCrowded(view) && <button type="button" class={mark === null ? "main for-taps" : "main"} disabled={mark === null} onClick={() => play(vertexOf(view, mark))}>{mark === null ? t("Play") : t("Play {point}", { point: nameOf(view, mark) })}</button>}
            {view.hasPass && <button type="button" disabled={!view.canPass || view.thinking || view.mistake} onClick={() => ask("pass", { at: view.at })}>{t("Pass")}</button>}
            <button type="button" disabled={view.goingOn ? view.line.length < 2 : view.number === 0 && !view.over} onClick={() => ask("undo")}>{t("Undo")}</button>
            <button type="button" disabled={!view.toPlay || view.thinking || view.mistake} onClick={() => ask("hint")}>{t("Hint")}</button>
            {isMine && <button type="button" disabled={!view.goingOn} onClick={() => setDialog("resign")}>{t("Resign")}</button>}
          </div>}
          <div class="notices" aria-live="polite">
            {view.goingOn && view.live !== view.at && <p class="notice warning">{earlier(view)} <button type="button" class="link" onClick={() => go(view.live)}>{t("Go to the last move")}</button></p>}
            {view.mistake && <Warning view={view} ask={ask} />}
            {hasEnded && <p class="notice"><strong>{endWords(view)}</strong></p>}
            {!tool && !server.notice && !hides(view, memory) && <Loss view={view} preview={preview} />}
            {tool && !server.notice && <p class="notice">{t("Click a point to mark it.")} <button type="button" class="link" onClick={() => setMarking(null)}>{t("Stop marking")}</button></p>}
            {server.notice && <p class={`notice ${server.notice.kind}`}>{server.notice.text}{server.notice.line && <> <button type="button" class="link" onClick={() => setPreview(preview ? null : server.notice.line)}>{t("Show what may follow")}</button></>}</p>}
          </div>
        </div>
        <aside>
          <Status view={view} loading={server.loading} />
          {view.count && <Count view={view} />}
          <Analysis view={view} look={look} overlay={overlay} setOverlay={setOverlay} ask={ask} onPreview={setPreview} details={memory.details} onDetails={(details) => keep({ details })} />
          <Game view={view} go={go} step={step} isHidden={hides(view, memory)} onReveal={() => keep({ leads: true })} who={who} />
          <Variations view={view} tree={server.tree} go={go} ask={ask} isHidden={hides(view, memory)} tool={tool} onTool={(name) => setMarking(name && { game: view.identity, tool: name })} />
          <Review view={view} ask={ask} progress={server.progress} onOpen={() => file.current.click()} details={memory.details} who={who} onWho={setWho} onShow={showMistake} onStep={stepMistake} />
          <Opponent view={view} network={network} ask={ask} run={hello.run} details={memory.details} />
        </aside>
      </main>
      <footer><p class="quiet">gozero {hello.version} · {t("nothing leaves this machine")} · <a href="/licences.txt">{t("licences")}</a></p></footer>
      <input ref={file} class="unseen" type="file" tabIndex={-1} aria-label={t("A record to open")} accept=".sgf,.txt" onChange={(event) => { open(event.currentTarget.files[0]); event.currentTarget.value = ""; }} />
      <div class="unseen" role="status">{[view.lastText, view.ending ? resultWords(view.ending) : !view.mistake && t("{side} to move.", { side: side(view.toPlay) })].filter(Boolean).join(". ")}</div>
      {dialog === "resign" && <Dialog isSmall title={t("Give this game up?")} no={t("Play on")} yes={t("Resign the game")} onYes={() => ask("resign")} onClose={() => setDialog(null)} />}
      {dialog === "new" && <NewGame games={hello.games} view={view} details={memory.details} onStart={(setup) => ask("new", { setup })} onSteps={(name) => { setDialog(null); ask("lessons", { game: name }); }} onClose={() => setDialog(null)} />}
      {server.lessons && <Lessons {...server.lessons} coordinates={memory.coordinates} onClose={server.forgetLessons} onPlay={() => setDialog("new")} />}
      {server.list && <MyGames listed={server.list} games={hello.games} notice={server.notice} current={view.identity} ask={ask} onClose={server.forgetGames} />}
      {server.games && <Games titles={server.games} onClose={server.forgetGames} onChoose={(number) => ask("load", { ...record.current, number })} />}
    </div>
  );
}

/** What goes on in the last position, while an earlier one is shown. */
function earlier(view) {
  if (view.thinking) return t("This is an earlier move. The engine is choosing its move.");
  return view.person === view.turn ? t("This is an earlier move. It is your turn.") : t("This is an earlier move.");
}

/** Asks which game of a file is to be opened. */
function Games({ titles, onClose, onChoose }) {
  const [number, setNumber] = useState(0);
  return (
    <Dialog title={t("This file has {count} games", { count: titles.length })} yes={t("Open")} onYes={() => onChoose(number)} onClose={onClose}>
      <Choice class="titles" aria-label={t("Game")} size={Math.min(12, Math.max(2, titles.length))} value={number} options={titles.map((title, index) => [index, `${index + 1}. ${title}`])} onChange={(value) => setNumber(Number(value))} />
    </Dialog>
  );
}

/** Keys for the whole page, where nothing else takes them. */
function useShortcuts({ view, go, step, stepMistake, ask, isOpen }) {
  // before the next key, which would walk from the view that was shown before
  useLayoutEffect(() => {
    const press = (event) => {
      const isTyping = event.target.closest("input:not([type=checkbox]), textarea, select, dialog");
      if (!view || isOpen || isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
      const act = {
        ArrowLeft: () => step(-1), ArrowRight: () => step(1),
        n: () => stepMistake(1), N: () => stepMistake(-1),
        Home: () => go(view.line[0]), End: () => go(view.line.at(-1)),
        a: () => ask("analyse", { on: !view.analysing }), h: () => ask("hint"), u: () => ask("undo"), p: () => view.canPass && !view.thinking && ask("pass", { at: view.at }),
      }[event.key];
      if (act) {
        event.preventDefault();
        act();
      }
    };
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  });
}

render(<Page />, document.getElementById("page"));
