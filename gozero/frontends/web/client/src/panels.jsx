// The cards beside the board: whose turn it is, the analysis, the review, the count.

import { useEffect, useState } from "preact/hooks";
import { candidates } from "./candidates.js";
import { Check, Choice, Stone } from "./controls.jsx";
import { Graph, Walk } from "./graph.jsx";
import { AnalyseAll, Mistakes, dotsOf } from "./review.jsx";
import { t } from "./translate.js";
import { ahead, lead, learned, levelWords, percent, short, side } from "./words.js";

const AREAS = { area: "whose area", discs: "whose discs" };
const LISTED = 8;
const NUMBERS = [["moves", "chances to win"], ["policy", "the network's policy"], ["none", "no numbers"]];

export function Status({ view, loading, opponent }) {
  const turn = view.over ? view.result : view.mistake ? t("Your choice: play on, or take it back") : view.thinking ? `${side(view.turn)}: the engine is thinking…` : view.person && view.person === view.turn ? `Your turn: ${side(view.turn)}` : `${side(view.toPlay)} to move`;
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
        {look?.ownership && view.area && <Check label={t(AREAS[view.area])} on={overlay.ownership} onChange={(ownership) => set({ ownership })} />}
        <Check label="details" on={details} onChange={(on) => { onDetails(on); if (overlay.moves === "policy") set({ moves: "moves" }); }} />
      </div>
    </section>
  );
}

/** The moves of a look in the order of what is shown of them: the good ones, or with details all. */
function listed(moves, details, isPolicy) {
  if (!details) return candidates(moves);
  return moves.filter((move) => move.visits > 0 || isPolicy).sort((one, other) => other.visits - one.visits);
}

function waiting(view) {
  if (!view.analysing) return view.area === "area" ? t("Switch it on to see good moves, who is winning, and whose area each point is likely to be.") : t("Switch it on to see good moves, and who is winning.");
  if (!view.toPlay) return "The game is over.";
  return view.thinking && view.at !== view.live ? "The engine is choosing its move; it looks at this position afterwards." : "Looking…";
}

export function Game({ view, go, step, isHidden, onReveal, who }) {
  return (
    <section class="card" aria-label="The game so far">
      <h2>The game so far</h2>
      {isHidden
        ? <p class="quiet">Who leads stays hidden while you play. <button type="button" class="link" onClick={onReveal}>Show it</button></p>
        : <Graph view={view} dots={dotsOf(view, who)} onGo={go} />}
      <Walk view={view} onGo={go} onStep={step} />
    </section>
  );
}

export function Review({ view, ask, progress, onOpen, details, ...mistakes }) {
  return (
    <section class="card review" aria-label="Review">
      <h2>Review</h2>
      <div class="options">
        <button type="button" onClick={onOpen}>Open a record…</button>
        <button type="button" onClick={() => ask("save")}>Save the game</button>
        {view.goingOn && <button type="button" onClick={() => ask("review")}>Stop playing, review</button>}
      </div>
      {view.line.length > 1 && <AnalyseAll view={view} ask={ask} progress={progress} details={details} />}
      {!view.goingOn && <Mistakes view={view} {...mistakes} />}
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

export function Opponent({ view, network, ask, run, details }) {
  return (
    <section class="card" aria-label="The engine">
      <h2>The engine</h2>
      <label class="level">Level <output>{levelWords(view.level)}</output>
        <input type="range" min="1" max="20" value={view.level} onChange={(event) => ask("level", { level: Number(event.currentTarget.value) })} />
      </label>
      {network && <p>{learned(network)}</p>}
      {network && details && (
        <details>
          <summary>How strong is it?</summary>
          <p><strong>{network.name}</strong>: {network.strength || "no matches are known"}.</p>
          {view.game === "go" && <p>The levels were measured against each other, in 3,546 games of Go on 9×9, and not against people. About 160 Elo lie between two of them.</p>}
        </details>
      )}
      {run && <p>Training run <strong>{run.name}</strong>: {run.report ? <a href="/run/report" target="_blank" rel="noopener">its report</a> : "no report yet"}. New game › More › Engine plays against its weights.</p>}
    </section>
  );
}
