// The cards beside the board: whose turn it is, the analysis, the review, the count.

import { useEffect, useState } from "preact/hooks";
import { Graph, Walk } from "./graph.jsx";
import { lead, levelWords, percent, short, side, time } from "./words.js";

const LISTED = 8;
const BATCH_VISITS = [25, 100, 400, 1000];

export const Stone = ({ colour }) => <span class={`stone ${colour}`} aria-hidden="true" />;

export function Status({ view, loading, opponent }) {
  const turn = view.over ? view.result : view.thinking ? `${side(view.toPlay)}: the engine is thinking…` : view.person === view.toPlay ? `Your turn: ${side(view.toPlay)}` : `${side(view.toPlay)} to move`;
  return (
    <section class="card status" aria-label="The game">
      <p class="turn">{!view.over && <Stone colour={view.toPlay} />}<strong>{turn}</strong></p>
      {view.lastText && <p class="note">Last move: {view.lastText}.</p>}
      {view.goingOn && view.live !== view.at && <p class="note">You are looking at an earlier move.</p>}
      {loading && <p class="note busy">{loading}</p>}
      {view.clock && <Clocks clock={view.clock} />}
      <p class="facts">{[view.person ? `You are ${side(view.person)}, against ${opponent}` : "No opponent: every move is yours", view.handicap ? `${view.handicap} stones handicap` : "", view.komi === null ? "" : `komi ${view.komi}`, view.rules && view.game === "go" ? `${view.rules} rules` : ""].filter(Boolean).join(" · ")}</p>
      {view.warning && <p class="note warning">⚠ {view.warning[0].toUpperCase() + view.warning.slice(1)}.</p>}
    </section>
  );
}

function Clocks({ clock }) {
  const [passed, setPassed] = useState(0);
  useEffect(() => {
    const begun = performance.now();
    setPassed(0);
    const timer = clock.running && setInterval(() => setPassed((performance.now() - begun) / 1000), 250);
    return () => clearInterval(timer);
  }, [clock]);
  return (
    <dl class="clocks">
      {["black", "white"].map((colour) => {
        const { left, periods } = timeLeft(clock, colour, clock.running === colour ? passed : 0);
        return (
          <div key={colour} class={clock.running === colour ? "clock running" : "clock"}>
            <dt><Stone colour={colour} />{side(colour)}</dt>
            <dd>{time(left)}{periods > 0 && <small> × {periods}</small>}</dd>
          </div>
        );
      })}
    </dl>
  );
}

/** A side's clock after so many more seconds: a period that is used up makes way for the next, as on the server. */
function timeLeft(clock, colour, passed) {
  let { seconds, periods } = clock[colour];
  let left = seconds - passed;
  while (left < 0 && periods !== 1 && clock.periods) {
    left += clock.period;
    periods = periods ? periods - 1 : clock.periods;
  }
  return { left: Math.max(0, left), periods };
}

export function Count({ view }) {
  const { count } = view;
  return (
    <section class="card" aria-label="The count">
      <h2>The count</h2>
      <table class="count">
        <tbody>
          <tr><th scope="row"><Stone colour="black" />Black</th><td>{count.black} points</td></tr>
          <tr><th scope="row"><Stone colour="white" />White</th><td>{count.white} points</td><td class="quiet">{count.bonus ? `${count.bonus} of them komi${view.handicap ? " and handicap bonus" : ""}` : ""}</td></tr>
        </tbody>
      </table>
      {count.disputable && <p class="note">Dead stones bear a cross. Not right? Click a group to call it dead or alive; Undo plays on.</p>}
    </section>
  );
}

export function Analysis({ view, look, overlay, setOverlay, ask, onPreview }) {
  const moves = look ? look.moves.filter((move) => move.visits > 0 || overlay.moves === "policy").slice(0, LISTED) : [];
  const set = (change) => setOverlay({ ...overlay, ...change });
  return (
    <section class="card" aria-label="Analysis">
      <h2>What the engine thinks
        <label class="switch"><input type="checkbox" role="switch" checked={view.analysing} onChange={(event) => ask("analyse", { on: event.currentTarget.checked })} /><span>Analysis</span></label>
      </h2>
      {look && (
        <>
          <p class="meter" role="img" aria-label={`Black wins ${percent(look.black)}`}><span class="bar"><span class="black-bar" style={{ width: `${100 * look.black}%` }} /></span></p>
          <p class="quiet">Black {percent(look.black)}{look.score !== null && ` · Black ${lead(look.score)} points`} · {short(look.visits)} visits{look.paused ? " · paused" : ""}</p>
          <div class="scroll" tabIndex={0} role="region" aria-label="Candidate moves">
            <table class="moves">
              <thead><tr><th scope="col">Move</th><th scope="col">Wins</th><th scope="col">Points</th><th scope="col">Visits</th><th scope="col">Policy</th><th scope="col">Expected line</th></tr></thead>
              <tbody>
                {moves.map((move) => (
                  <tr key={move.vertex} onPointerEnter={() => onPreview({ points: move.points, first: look.toPlay, node: look.node })} onPointerLeave={() => onPreview(null)}>
                    <th scope="row"><button type="button" class="link" onFocus={() => onPreview({ points: move.points, first: look.toPlay, node: look.node })} onBlur={() => onPreview(null)} onClick={() => onPreview({ points: move.points, first: look.toPlay, node: look.node })}>{move.vertex}</button></th>
                    <td>{percent(move.chance)}</td><td>{lead(move.score)}</td><td>{short(move.visits)}</td><td>{percent(move.prior)}</td>
                    <td class="line">{move.line.slice(1, 7).join(" ")}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
          <p class="quiet">For {side(look.toPlay)}, who is to move. Point at a move to see its line.</p>
        </>
      )}
      {!look && <p class="quiet">{view.analysing ? (view.over ? "The game is over." : "Looking…") : "Switch it on to see the engine's candidate moves, its estimate and whose area it expects each point to be."}</p>}
      <div class="options">
        <label>On the board <select value={overlay.moves} onChange={(event) => set({ moves: event.currentTarget.value })}><option value="moves">win rate and visits</option><option value="policy">policy</option><option value="none">nothing</option></select></label>
        {look?.ownership && <label><input type="checkbox" checked={overlay.ownership} onChange={(event) => set({ ownership: event.currentTarget.checked })} /> ownership</label>}
      </div>
    </section>
  );
}

export function Game({ view, go }) {
  return (
    <section class="card" aria-label="The game so far">
      <h2>The game so far</h2>
      <Graph view={view} onGo={go} />
      <Walk view={view} onGo={go} />
      {view.children.length > 1 && (
        <p class="next">Goes on with {view.children.map((child) => <button type="button" key={child.node} class="small" onClick={() => go(child.node)}>{child.vertex}</button>)}</p>
      )}
    </section>
  );
}

export function Review({ view, ask, go, progress, onPreview, onOpen }) {
  const [visits, setVisits] = useState(100);
  return (
    <section class="card" aria-label="Review">
      <h2>Review</h2>
      <div class="options">
        <button type="button" onClick={onOpen}>Open a record…</button>
        <button type="button" onClick={() => ask("save")}>Save the game</button>
        {view.goingOn && <button type="button" onClick={() => ask("review")}>Stop playing, review</button>}
      </div>
      {view.line.length > 1 && (
        <div class="options">
          {view.batch
            ? <button type="button" onClick={() => ask("stop")}>Stop</button>
            : <button type="button" onClick={() => ask("batch", { visits })}>Analyse all moves</button>}
          <label>with <select aria-label="Visits for each position" value={visits} onChange={(event) => setVisits(Number(event.currentTarget.value))}>{BATCH_VISITS.map((count) => <option key={count} value={count}>{count} visits</option>)}</select></label>
        </div>
      )}
      {view.batch && progress && <progress aria-label="Positions analysed" max={progress.total} value={progress.done}>{progress.done} of {progress.total}</progress>}
      {view.worst.length > 0 && !view.goingOn && (
        <>
          <h3>Moves that lost most</h3>
          <ol class="worst">
            {view.worst.map((move) => (
              <li key={move.node}>
                <button type="button" class="link" onClick={() => go(move.node)}>{move.number}. {side(move.colour)} {move.vertex}</button>
                {" "}lost {percent(move.loss)}{move.points > 0 && ` (${move.points} points)`}.{" "}
                <button type="button" class="link" onClick={() => { go(view.line[move.number - 1]); onPreview({ points: move.betterPoints, first: move.colour, node: view.line[move.number - 1] }); }}>Better: {move.better.slice(0, 6).join(" ")}</button>
              </li>
            ))}
          </ol>
        </>
      )}
      <Comment view={view} ask={ask} />
    </section>
  );
}

function Comment({ view, ask }) {
  const [text, setText] = useState(view.comment);
  useEffect(() => setText(view.comment), [view.at, view.comment]);
  return (
    <label class="comment">Comment on this position
      <textarea rows="2" maxLength={10000} value={text} onInput={(event) => setText(event.currentTarget.value)} onBlur={() => text !== view.comment && ask("comment", { text })} />
    </label>
  );
}

export function Opponent({ view, network, ask, run }) {
  return (
    <section class="card" aria-label="The engine">
      <h2>The engine</h2>
      <label class="level">Level <output>{levelWords(view.level)}</output>
        <input type="range" min="1" max="20" value={view.level} onChange={(event) => ask("level", { level: Number(event.currentTarget.value) })} />
      </label>
      {network && <p><strong>{network.name}</strong>: {network.strength || "no matches are known"}.{network.trained.length > 0 && ` Trained on board sizes ${network.trained.join(", ")}.`}</p>}
      <p class="quiet">The levels were measured against each other, in 3,546 games of Go on 9×9, and not against people. About 160 Elo lie between two of them.</p>
      {run && <p>Training run <strong>{run.name}</strong>: {run.report ? <a href="/run/report" target="_blank" rel="noopener">its report</a> : "no report yet"}. New game › More › Engine plays against its weights.</p>}
    </section>
  );
}
