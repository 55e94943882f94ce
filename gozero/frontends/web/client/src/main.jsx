// The page: it shows what the server reports, and asks the server for everything else.

import { render } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { Board, isCrowded, nameOf, vertexOf } from "./board.jsx";
import { Button, Check, Choice, Dialog, Offer } from "./controls.jsx";
import { MyGames } from "./mygames.jsx";
import { Lessons } from "./lessons.jsx";
import { NewGame } from "./newgame.jsx";
import { Analysis, Count, Game, Opponent, Review, Status } from "./panels.jsx";
import { Loss, otherMistake } from "./review.jsx";
import { Players } from "./players.jsx";
import { hides, PageContext, usePage, useServer, useWalk } from "./server.js";
import { Variations } from "./tree.jsx";
import { Ended, endWords, Warning } from "./teaching.jsx";
import { LANGUAGES, speak, t } from "./translate.js";
import { moveWords, side } from "./words.js";
import "./style.css";

const LARGEST_RECORD = 1_000_000; // bytes

function Page() {
  const server = useServer();
  speak(server.memory.language);
  return server.view ? <GamePage server={server} /> : <Starting {...server} />;
}

function GamePage({ server }) {
  const { view, hello, memory, preview, tool, who, ask, change } = server;
  const [isDropping, setIsDropping] = useState(false);
  const file = useRef(null), record = useRef(null); // the field for a file; what was read last
  const { go, step } = useWalk(server);
  const open = async (chosen) => {
    const refuse = (text) => change({ notice: { kind: "refused", text } });
    if (!chosen) return;
    const { name, size } = chosen, values = { name, size: size.toLocaleString("en"), most: LARGEST_RECORD.toLocaleString("en") };
    if (size > LARGEST_RECORD) return refuse(t("{name} has {size} bytes; a record has at most {most}.", values));
    record.current = { data: await bytesOf(chosen), name };
    if (record.current.data === null) refuse(t("{name} cannot be read. Is it a file?", values));
    else ask("load", record.current);
  };
  const drop = (event, isOver, chosen) => {
    event.preventDefault();
    setIsDropping(isOver);
    open(chosen);
  };
  const showMistake = (move) => {
    go(move.before);
    change({ preview: { points: move.betterPoints, first: move.colour, node: move.before, played: move } });
    document.querySelector(".board-frame").scrollIntoView({ block: "nearest" }); // on a phone it is far above
  };
  const stepMistake = (by) => {
    const move = !view.goingOn && otherMistake(view, who, by);
    if (move) showMistake(move);
  };
  const page = {
    ...server, go, step, showMistake, stepMistake,
    play: (vertex) => {
      change({ mark: null });
      ask(view.count?.disputable ? "dead" : "play", { vertex, at: view.at, warn: memory.warns });
    },
    pick: tool && ((point) => ask("mark", { node: view.at, point, mark: tool })),
    setMark: (mark) => change({ mark }),
    preview: preview?.node === view.at ? preview : null,
    game: hello.games.find((entry) => entry.name === view.game),
    isHidden: hides(view, memory),
    hasEnded: view.ending && view.person && view.at === view.live,
  };
  useShortcuts(page);
  const last = [
    view.lastMove && moveWords(view.lastMove),
    view.ending ? endWords(view.ending) : !view.mistake && t("{side} to move.", { side: side(view.toPlay) }),
  ];
  return (
    <PageContext.Provider value={page}>
      <div
        class={isDropping ? "page dropping" : "page"} data-move={view.number} data-game={view.identity}
        data-turn={view.over ? "over" : view.thinking ? "engine" : "person"}
        onDragOver={(event) => drop(event, true)} onDrop={(event) => drop(event, false, event.dataTransfer.files[0])}
        onDragLeave={(event) => event.relatedTarget === null && setIsDropping(false)}
      >
        <Header />
        <main>
          <div class="playing">
            {!server.open && <p class="notice lost" role="alert">{brokenWords(server)}</p>}
            <Players />
            <Board />
            {page.hasEnded ? <Ended /> : <Actions />}
            <Notices />
          </div>
          <aside>
            <Status />
            {view.count && <Count />}
            <Analysis />
            <Game />
            <Variations />
            <Review onOpen={() => file.current.click()} />
            <Opponent />
          </aside>
        </main>
        <footer><p class="quiet">gozero {hello.version} · {t("nothing leaves this machine")} · <a href="/licences.txt">{t("licences")}</a></p></footer>
        <input
          ref={file} class="unseen" type="file" tabIndex={-1} aria-label={t("A record to open")} accept=".sgf,.txt"
          onChange={(event) => { open(event.currentTarget.files[0]); event.currentTarget.value = ""; }}
        />
        <div class="unseen" role="status">{last.filter(Boolean).join(". ")}</div>
        {server.dialog && <OpenDialog onChoose={(number) => ask("load", { ...record.current, number })} />}
      </div>
    </PageContext.Provider>
  );
}

/** The bytes of a file as base64, null if it cannot be read; the server finds out the encoding. */
const bytesOf = (file) =>
  new Promise((resolve) => {
    const reader = new FileReader();
    reader.onload = () => resolve(reader.result.split(",")[1] ?? "");
    reader.onerror = () => resolve(null); // a folder, or a file that may not be read
    reader.readAsDataURL(file);
  });

/** Before the first view. */
function Starting({ open, notice, loading }) {
  if (!open) return <p class="starting">{t("The server does not answer. Is gozero web still running? It serves at most 32 pages at once.")}</p>;
  return (
    <p class="starting">
      {notice?.text || loading || t("Setting up the board…")}
      {notice?.kind === "refused" && <> <a href="/">{t("Begin a new game")}</a></>}
    </p>
  );
}

const brokenWords = ({ isKept, unauthorized }) => (
  unauthorized ? t("The server was started again, with another token. Open the address that it prints.")
  : isKept ? t("The connection to the server is broken; trying again. This page keeps the game.")
  : t("The connection to the server is broken; trying again. The game is too large for this page to keep."));

function Header() {
  const { view, game, memory, keep, ask, change } = usePage();
  const option = (name, label) => <Check label={label} on={memory[name]} onChange={(on) => keep({ [name]: on })} />;
  const choice = (name, label, options) => <Choice label={label} value={memory[name]} options={options} onChange={(value) => keep({ [name]: value })} />;
  return (
    <header>
      <h1>gozero <span class="quiet">{game && t(game.title)}</span></h1>
      <Button class="gear" popovertarget="settings" label={t("Settings")}>⚙</Button>
      <Button class="steps" onClick={() => ask("lessons", { game: view.game })}>{t("First steps")}</Button>
      <Button class="main" onClick={() => change({ dialog: { is: "new" } })}>{t("New game")}</Button>
      <Button onClick={() => ask("list")}>{t("My games")}</Button>
      <div id="settings" class="card" popover="auto">
        {option("sound", t("Sound"))}
        {option("warns", t("Warn me after a bad move"))}
        {option("leads", t("Show who leads while I play"))}
        {view.game === "othello" && option("legal", t("Mark where I may play"))}
        {option("coordinates", t("Coordinates"))}
        {option("variations", t("Show variations"))}
        {choice("theme", t("Colours"), [["auto", t("as the system's")], ["light", t("light")], ["dark", t("dark")]])}
        {choice("language", t("Language"), [["auto", t("as the browser's")], ...LANGUAGES])}
      </div>
    </header>
  );
}

/** The buttons for moves. */
function Actions() {
  const { view, mark, play, ask, change } = usePage();
  const mayUndo = view.goingOn ? view.line.length > 1 : view.number > 0 || view.over;
  const isBusy = view.thinking || view.mistake, point = mark !== null && nameOf(view, mark);
  return (
    <div class="actions" role="group" aria-label={t("Moves")}>
      {isCrowded(view) && !point && <Button class="main for-taps" disabled>{t("Play")}</Button>}
      {isCrowded(view) && point && <Button class="main" onClick={() => play(vertexOf(view, mark))}>{t("Play {point}", { point })}</Button>}
      {view.hasPass && <Button disabled={!view.canPass || isBusy} onClick={() => play("pass")}>{t("Pass")}</Button>}
      <Button disabled={!mayUndo} onClick={() => ask("undo")}>{t("Undo")}</Button>
      <Button disabled={!view.toPlay || isBusy} onClick={() => ask("hint")}>{t("Hint")}</Button>
      {(view.live !== null || view.person) && (
        <Button disabled={!view.goingOn} onClick={() => change({ dialog: { is: "resign" } })}>{t("Resign")}</Button>
      )}
    </div>
  );
}

/** What is to be said below the board. */
function Notices() {
  const { view, notice, preview, tool, isHidden, hasEnded, go, change } = usePage();
  return (
    <div class="notices" aria-live="polite">
      {view.goingOn && view.live !== view.at && (
        <Offer class="notice warning" label={t("Go to the last move")} onClick={() => go(view.live)}>{earlier(view)}</Offer>
      )}
      {view.mistake && <Warning />}
      {hasEnded && <p class="notice"><strong>{endWords(view.ending, view.person)}</strong></p>}
      {!tool && !notice && !isHidden && <Loss />}
      {tool && !notice && (
        <Offer class="notice" label={t("Stop marking")} onClick={() => change({ tool: null })}>{t("Click a point to mark it.")}</Offer>
      )}
      {notice && (
        <Offer
          class={`notice ${notice.kind}`} label={t("Show what may follow")}
          onClick={notice.line && (() => change({ preview: preview ? null : notice.line }))}
        >{notice.text}</Offer>
      )}
    </div>
  );
}

/** What goes on in the last position, while an earlier one is shown. */
function earlier(view) {
  if (view.thinking) return t("This is an earlier move. The engine is choosing its move.");
  return view.person === view.turn ? t("This is an earlier move. It is your turn.") : t("This is an earlier move.");
}

/** The dialog that is open; closing it leaves another one that was opened since. */
function OpenDialog({ onChoose }) {
  const { dialog, hello, ask, change } = usePage();
  const close = () => change((now) => now.dialog?.is === dialog.is && { dialog: null });
  if (dialog.is === "new") return <NewGame onClose={close} />;
  if (dialog.is === "lessons") return <Lessons {...dialog} onClose={close} />;
  if (dialog.is === "list") return <MyGames listed={dialog.games} games={hello.games} onClose={close} />;
  if (dialog.is === "games") return <Games titles={dialog.titles} onChoose={onChoose} onClose={close} />;
  return <Dialog class="small" title={t("Give this game up?")} no={t("Play on")} yes={t("Resign the game")} onYes={() => ask("resign")} onClose={close} />;
}

/** Asks which game of a file is to be opened. */
function Games({ titles, onClose, onChoose }) {
  const [number, setNumber] = useState(0);
  return (
    <Dialog title={t("This file has {count} games", { count: titles.length })} yes={t("Open")} onYes={() => onChoose(number)} onClose={onClose}>
      <Choice
        class="titles" aria-label={t("Game")} size={Math.min(12, Math.max(2, titles.length))} value={number}
        options={titles.map((title, index) => [index, `${index + 1}. ${title}`])} onChange={(value) => setNumber(Number(value))}
      />
    </Dialog>
  );
}

/** Keys for the whole page, where nothing else takes them. */
function useShortcuts({ view, dialog, tool, go, step, stepMistake, play, ask, change }) {
  // before the next key, which would walk from the view that was shown before
  useLayoutEffect(() => {
    const press = (event) => {
      const isTyping = event.target.closest("input:not([type=checkbox]), textarea, select, dialog");
      if (dialog || isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
      const act = {
        ArrowLeft: () => step(-1), ArrowRight: () => step(1),
        n: () => stepMistake(1), N: () => stepMistake(-1),
        Home: () => go(view.line[0]), End: () => go(view.line.at(-1)),
        a: () => ask("analyse", { on: !view.analysing }), h: () => ask("hint"), u: () => ask("undo"),
        p: () => view.canPass && !view.thinking && play("pass"),
        Escape: tool && (() => change({ tool: null })),
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
