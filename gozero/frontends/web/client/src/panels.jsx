// The cards beside the board: whose turn it is, the analysis, the review, the count.

import { useEffect, useState } from "preact/hooks";
import { Check, Choice, Stone } from "./controls.jsx";
import { Graph, Walk } from "./graph.jsx";
import { ahead, lead, learned, levelWords, percent, short, side } from "./words.js";

const LISTED = 8;
const WELL_SEARCHED = 0.01; // of the visits of the move that has most
const NUMBERS = [["moves", "chances to win"], ["policy", "the network's policy"], ["none", "no numbers"]];
const EFFORTS = [[25, "quickly"], [100, "well"], [400, "thoroughly"], [1000, "very thoroughly"]]; // visits, in words

export function Status({ view, loading, opponent }) {
  const turn = view.over ? view.result : view.thinking ? `${side(view.turn)}: the engine is thinking…` : view.person && view.person === view.turn ? `Your turn: ${side(view.turn)}` : `${side(view.toPlay)} to move`;
  return (
    <section class="card status" aria-label="The game">
      {view.event && <p class="event">{view.event}</p>}
      <p class="turn"><strong>{turn}</strong></p>
      {view.recorded && <p>Result in the record: <strong>{view.recorded}</strong></p>}
      {view.comment && <blockquote class="said">{view.comment}</blockquote>}
      {view.lastText && <p class="note">Last move: {view.lastText}.</p>}
      {loading && <p class="note busy">{loading}</p>}
      <p class="facts">{[view.person ? `You are ${side(view.person)}, against ${opponent}` : "No opponent: every move is yours", view.handicap ? `${view.handicap} stones handicap` : "", view.komi === null ? "" : `komi ${view.komi}`, view.rules && view.game === "go" ? `${view.rules} rules` : ""].filter(Boolean).join(" · ")}</p>
      {view.warning && <p class="note warning">⚠ {view.warning[0].toUpperCase() + view.warning.slice(1)}.</p>}
    </section>
  );
}

export function Count({ view }) {
  const { count } = view;
  return (
    <section class="card" aria-label="The count">
      <h2>The count</h2>
      <table class="count">
        <tbody>
          <tr><th scope="row"><Stone colour="black" />Black</th><td>{count.black} points</td></tr>
          <tr><th scope="row"><Stone colour="white" />White</th><td>{count.white} points</td><td class="quiet">{count.bonus ? `including ${count.bonus} ${view.handicap ? "komi and handicap bonus" : "komi"}` : ""}</td></tr>
        </tbody>
      </table>
      {count.disputable && <p class="note">Dead stones are marked with ×. Wrong? Click a group to call it dead or alive. Undo continues the game.</p>}
    </section>
  );
}

export function Analysis({ view, look, overlay, setOverlay, ask, onPreview, details, onDetails }) {
  const moves = look ? listed(look.moves, details, overlay.moves === "policy").slice(0, LISTED) : [];
  const set = (change) => setOverlay({ ...overlay, ...change });
  return (
    <section class="card" aria-label="Analysis">
      <h2>What the engine thinks
        <label class="switch"><input type="checkbox" role="switch" checked={view.analysing} onChange={(event) => ask("analyse", { on: event.currentTarget.checked })} /><span>Analysis</span></label>
      </h2>
      {look && (
        <>
          <p class="meter" role="img" aria-label={`Black wins ${percent(look.black)}`}><span class="bar"><span class="black-bar" style={{ width: `${100 * look.black}%` }} /></span></p>
          <p class="quiet">Black wins {percent(look.black)}, White {percent(1 - look.black)}{look.score !== null && `; ${ahead(look.score, view.unit)}`}.{details && ` ${short(look.visits)} visits${look.paused ? ", paused" : ""}.`}</p>
          <div class="scroll" tabIndex={0} role="region" aria-label="Candidate moves">
            <table class="moves">
              <thead><tr><th scope="col">Move</th><th scope="col">Wins</th>{look.score !== null && <th scope="col" class="unit">{view.unit}</th>}{details && <><th scope="col">Visits</th><th scope="col">Policy</th></>}<th scope="col">What may follow</th></tr></thead>
              <tbody>
                {moves.map((move) => {
                  const show = () => onPreview({ points: move.points, first: look.toPlay, node: look.node });
                  return (
                    <tr key={move.vertex} onPointerEnter={show} onPointerLeave={() => onPreview(null)}>
                      <th scope="row"><button type="button" class="link" onFocus={show} onBlur={() => onPreview(null)} onClick={show}>{move.vertex}</button></th>
                      <td>{percent(move.chance)}</td>{look.score !== null && <td>{lead(move.score)}</td>}
                      {details && <><td>{short(move.visits)}</td><td>{percent(move.prior)}</td></>}
                      <td class="line">{move.line.slice(1, 7).join(" ")}</td>
                    </tr>
                  );
                })}
              </tbody>
            </table>
          </div>
          <p class="quiet">{details ? "Moves" : "Good moves"} for {side(look.toPlay)}, the {details ? "one with most visits" : "best one"} first. Point at a move to see what may follow.</p>
        </>
      )}
      {!look && <p class="quiet">{waiting(view)}</p>}
      <div class="options">
        <Choice label="On the board" value={overlay.moves} options={NUMBERS.filter(([name]) => details || name !== "policy")} onChange={(moves) => set({ moves })} />
        {look?.ownership && <Check label="whose area" on={overlay.ownership} onChange={(ownership) => set({ ownership })} />}
        <Check label="details" on={details} onChange={(on) => { onDetails(on); if (overlay.moves === "policy") set({ moves: "moves" }); }} />
      </div>
    </section>
  );
}

/** The moves of a look in the order of what is shown of them: chances of those that were searched well, or all visits. */
function listed(moves, details, isPolicy) {
  if (details) return moves.filter((move) => move.visits > 0 || isPolicy).sort((one, other) => other.visits - one.visits);
  const most = Math.max(...moves.map((move) => move.visits));
  const least = Math.max(1, Math.min(most, Math.max(2, WELL_SEARCHED * most)));
  return moves.filter((move) => move.visits >= least).sort((one, other) => other.chance - one.chance);
}

function waiting(view) {
  if (!view.analysing) return "Switch it on to see good moves, who is winning, and whose area each point is likely to be.";
  if (!view.toPlay) return "The game is over.";
  return view.thinking && view.at !== view.live ? "The engine is choosing its move; it looks at this position afterwards." : "Looking…";
}

export function Game({ view, go, step, isHidden, onReveal }) {
  return (
    <section class="card" aria-label="The game so far">
      <h2>The game so far</h2>
      {isHidden
        ? <p class="quiet">Who leads stays hidden while you play. <button type="button" class="link" onClick={onReveal}>Show it</button></p>
        : <Graph view={view} onGo={go} />}
      <Walk view={view} onGo={go} onStep={step} />
      {view.children.length > 1 && (
        <p class="next">Goes on with {view.children.map((child) => <button type="button" key={child.node} class="small" onClick={() => go(child.node)}>{child.vertex}</button>)}</p>
      )}
    </section>
  );
}

export function Review({ view, ask, go, progress, onPreview, onOpen, details }) {
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
          <Choice aria-label="How thoroughly" value={visits} options={EFFORTS.map(([count, words]) => [count, `${words}${details ? ` (${count} visits)` : ""}`])} onChange={(value) => setVisits(Number(value))} />
        </div>
      )}
      {view.batch && progress && <p class="quiet"><progress aria-label="Positions analysed" max={progress.total} value={progress.done} /> {progress.done} of {progress.total} positions</p>}
      {view.worst.length > 0 && !view.goingOn && (
        <>
          <h3>Moves that lost most</h3>
          <ul class="worst">
            {view.worst.map((move) => (
              <li key={move.node}>
                <button type="button" class="link" onClick={() => go(move.node)}>{move.number}. {side(move.colour)} {move.vertex}</button>
                {" "}lost {percent(move.loss)}{move.points > 0 && ` (${move.points} ${view.unit})`}.{" "}
                <button type="button" class="link" onClick={() => { go(view.line[move.number - 1]); onPreview({ points: move.betterPoints, first: move.colour, node: view.line[move.number - 1] }); }}>Better: {move.better.slice(0, 6).join(" ")}</button>
              </li>
            ))}
          </ul>
        </>
      )}
      <Comment view={view} ask={ask} />
    </section>
  );
}

/** What is being typed belongs to the position where the typing began, whatever is shown meanwhile, until the box is left. */
function Comment({ view, ask }) {
  const [draft, setDraft] = useState(null);
  const own = draft?.identity === view.identity ? draft : null;
  useEffect(() => {
    if (own?.sent && (own.node !== view.at || own.text === view.comment)) setDraft(null);
  }, [view, own]);
  const type = (text) => setDraft({ identity: view.identity, node: own && !own.sent ? own.node : view.at, text, sent: false });
  const send = () => {
    if (own && !own.sent && ask("comment", { node: own.node, text: own.text })) setDraft({ ...own, sent: true });
  };
  return (
    <label class="comment">Comment on {own && own.node !== view.at ? "an earlier" : "this"} position
      <textarea rows="2" maxLength={10000} value={own ? own.text : view.comment} onInput={(event) => type(event.currentTarget.value)} onBlur={send} />
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
      {network && <p>{learned(network)}</p>}
      {network && (
        <details>
          <summary>How strong is it?</summary>
          <p><strong>{network.name}</strong>: {network.strength || "no matches are known"}.</p>
          {view.game === "go" && <p>On 9×9, level 8 is about as strong as GNU Go at its level 1, and level 9 as GNU Go at its level 10. No level was measured against people.</p>}
        </details>
      )}
      {run && <p>Training run <strong>{run.name}</strong>: {run.report ? <a href="/run/report" target="_blank" rel="noopener">its report</a> : "no report yet"}. New game › More › Engine plays against its weights.</p>}
    </section>
  );
}
