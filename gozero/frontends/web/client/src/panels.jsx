// The cards beside the board: whose turn it is, the analysis, the review, the count.

import { useState } from "preact/hooks";
import { Button, Card, Check, Choice, Level, Offer, Stone } from "./controls.jsx";
import { Graph, Walk } from "./graph.jsx";
import { AnalyseAll, Mistakes } from "./review.jsx";
import { usePage } from "./server.js";
import { endWords } from "./teaching.jsx";
import { english, t } from "./translate.js";
import { ahead, lead, learned, moveWords, percent, short, side, sizes, untrained } from "./words.js";

const AREAS = { area: english("whose area"), discs: english("whose discs") };
const LISTED = 8;
const LEAST_VISITS = 5, LEAST_SHARE = 0.03; // of the move that has most
const ENOUGH_VISITS = 100; // with which a move is listed whatever its share
const NUMBERS = [["moves", english("chances to win")], ["policy", english("the network's policy")], ["none", english("no numbers")]];

export function Status() {
  const { view, loading } = usePage();
  return (
    <section class="card status" aria-label={t("The game")}>
      {view.event && <p class="quiet">{view.event}</p>}
      <p class="turn"><strong>{turnOf(view)}</strong></p>
      {view.recorded && <p>{t("Result in the record: {result}", { result: view.recorded })}</p>}
      {view.comment && <blockquote class="said">{view.comment}</blockquote>}
      <p class="note">{view.lastMove ? t("Last move: {move}.", { move: moveWords(view.lastMove) }) : "\u00a0"}</p>
      {loading && <p class="note busy">{loading}</p>}
      <p class="quiet">{factsOf(view).filter(Boolean).join(" · ")}</p>
      {view.untrained && <p class="note warning">⚠ {untrained(sizes(view.cols, view.rows))}</p>}
    </section>
  );
}

function turnOf(view) {
  if (view.over) return endWords(view.ending);
  if (view.mistake) return t("Your turn: play the move anyway, or take it back");
  if (view.thinking) return t("{side}: the engine is thinking…", { side: side(view.turn) });
  if (view.person && view.person === view.turn) return t("Your turn: {side}", { side: side(view.turn) });
  return t("{side} to move", { side: side(view.toPlay) });
}

const factsOf = ({ person, level, handicap, komi, rules, game }) => [
  person ? t("You are {side}, against level {level}", { side: side(person), level }) : t("No opponent: every move is yours"),
  handicap > 0 && t("{count} stones handicap", { count: handicap }),
  komi !== null && t("komi {komi}", { komi }),
  game === "go" && rules && t("{rules} rules", { rules: t(rules) }),
];

export function Count() {
  const { view } = usePage(), { count } = view;
  const bonus = count.bonus > 0 && t(view.handicap ? "including {bonus} komi and handicap bonus" : "including {bonus} komi", count);
  const row = (colour, more) => (
    <tr><th scope="row"><Stone colour={colour} />{side(colour)}</th><td>{t("{count} points", { count: count[colour] })}</td>{more}</tr>
  );
  return (
    <Card title={t("The count")}>
      <table class="count"><tbody>{row("black")}{row("white", <td class="quiet">{bonus}</td>)}</tbody></table>
      {count.disputable && <p class="note">{t("Dead stones are marked with ×. Wrong? Click a group to call it dead or alive. Undo continues the game.")}</p>}
    </Card>
  );
}

export function Analysis() {
  const { view, look, overlay, ask, change, keep, memory: { details } } = usePage();
  const set = (more) => change({ overlay: { ...overlay, ...more } });
  const numbers = NUMBERS.filter(([name]) => details || name !== "policy").map(([name, words]) => [name, t(words)]);
  return (
    <section class="card" aria-label={t("Analysis")}>
      <h2>{t("What the engine thinks")}
        <label class="switch">
          <input type="checkbox" role="switch" checked={view.analysing} onChange={(event) => ask("analyse", { on: event.currentTarget.checked })} />
          <span>{t("Analysis")}</span>
        </label>
      </h2>
      {look ? <Look /> : <p class="quiet">{waiting(view)}</p>}
      <div class="options">
        <Choice label={t("On the board")} value={overlay.moves} options={numbers} onChange={(moves) => set({ moves })} />
        {look?.ownership && view.area && <Check label={t(AREAS[view.area])} on={overlay.ownership} onChange={(ownership) => set({ ownership })} />}
        <Check label={t("details")} on={details} onChange={(on) => { keep({ details: on }); if (overlay.moves === "policy") set({ moves: "moves" }); }} />
      </div>
    </section>
  );
}

/** What a search has found. */
function Look() {
  const { view, look, overlay, change, memory: { details } } = usePage();
  const show = ({ points }) => change({ preview: { points, first: look.toPlay, node: look.node } });
  const hide = () => change({ preview: null });
  const searched = look.moves.filter((move) => move.visits > 0 || overlay.moves === "policy");
  const listed = details ? sortedByVisits(searched) : candidates(look.moves);
  const found = [
    t("Black wins {chance}, White {other}", { chance: percent(look.black), other: percent(1 - look.black) }),
    look.score !== null && ahead(look.score, view.unit),
    details && t("{count} visits", { count: short(look.visits) }), details && look.paused && t("paused"),
  ];
  const columns = [ // head and cell, and the class of the head
    [t("Wins"), (move) => percent(move.chance)],
    look.score !== null && [t(view.unit), (move) => lead(move.score), "unit"],
    details && [t("Visits"), (move) => short(move.visits)],
    details && [t("Policy"), (move) => percent(move.prior)],
  ].filter(Boolean);
  return (
    <>
      <p class="meter" role="img" aria-label={t("Black wins {chance}", { chance: percent(look.black) })} style={{ "--black": look.black }} />
      <p class="quiet">{found.filter(Boolean).join("; ")}</p>
      <div class="scroll" tabIndex={0} role="region" aria-label={t("Candidate moves")}>
        <table class="moves">
          <thead>
            <tr>
              <th scope="col">{t("Move")}</th>
              {columns.map(([head, , kind]) => <th scope="col" class={kind}>{head}</th>)}
              <th scope="col">{t("What may follow")}</th>
            </tr>
          </thead>
          <tbody>
            {listed.slice(0, LISTED).map((move) => (
              <tr key={move.vertex} onPointerEnter={() => show(move)} onPointerLeave={hide}>
                <th scope="row"><Button class="link" onFocus={() => show(move)} onBlur={hide} onClick={() => show(move)}>{move.vertex}</Button></th>
                {columns.map(([, cell]) => <td>{cell(move)}</td>)}
                <td class="line">{move.line.slice(1, 7).join(" ")}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <p class="quiet">{details
        ? t("Moves for {side}, the one with most visits first. Point at a move to see what may follow.", { side: side(look.toPlay) })
        : t("Good moves for {side}, the best one first. Point at a move to see what may follow.", { side: side(look.toPlay) })}</p>
    </>
  );
}

/** The moves of an analysis that have enough visits to be believed, in the order of what is shown of them. */
export function candidates(moves, byVisits) {
  const most = Math.max(0, ...moves.map((move) => move.visits));
  const least = Math.max(2, Math.min(most, LEAST_VISITS), Math.min(ENOUGH_VISITS, LEAST_SHARE * most));
  const believed = moves.filter((move) => move.visits >= least);
  return byVisits ? sortedByVisits(believed) : believed.sort((one, other) => other.chance - one.chance);
}

const sortedByVisits = (moves) => moves.sort((one, other) => other.visits - one.visits);

function waiting(view) {
  if (!view.analysing) {
    return view.area !== "area" ? t("Switch it on to see good moves, and who is winning.")
      : t("Switch it on to see good moves, who is winning, and whose area each point is likely to be.");
  }
  if (!view.toPlay) return t("The game is over.");
  return view.thinking && view.at !== view.live ? t("The engine is choosing its move. It looks at this position afterwards.") : t("Looking…");
}

export function Game() {
  const { isHidden, keep } = usePage();
  return (
    <Card title={t("The game so far")}>
      {isHidden
        ? <Offer class="quiet" label={t("Show it")} onClick={() => keep({ leads: true })}>{t("Who leads stays hidden while you play.")}</Offer>
        : <Graph />}
      <Walk />
    </Card>
  );
}

export function Review({ onOpen }) {
  const { view, ask } = usePage();
  return (
    <Card title={t("Review")} kind="review">
      <div class="options">
        <Button onClick={onOpen}>{t("Open a record…")}</Button>
        <Button onClick={() => ask("save")}>{t("Save the game")}</Button>
        {view.goingOn && <Button onClick={() => ask("review")}>{t("Stop playing, review")}</Button>}
        {!(view.goingOn && view.at === view.live) && (
          <Button disabled={!view.toPlay} onClick={() => ask("play-on")}>{t("Play from here")}</Button>
        )}
      </div>
      {view.line.length > 1 && <AnalyseAll />}
      {!view.goingOn && <Mistakes />}
      <Comment />
    </Card>
  );
}

/** What is being typed belongs to the position where the typing began, whatever is shown meanwhile, until the box is left. */
function Comment() {
  const { view, ask, change } = usePage();
  const [draft, setDraft] = useState(null);
  const own = draft?.identity === view.identity ? draft : null;
  const type = (text) => setDraft({ identity: view.identity, node: own ? own.node : view.at, text });
  const send = () => {
    if (!own || !ask("comment", { node: own.node, text: own.text })) return;
    // shown at once; the server's answer says the same
    change((now) => now.view.at === own.node && { view: { ...now.view, comment: own.text } });
    setDraft(null);
  };
  return (
    <label class="comment">{own && own.node !== view.at ? t("Comment on an earlier position") : t("Comment on this position")}
      <textarea rows="2" maxLength={10000} value={own ? own.text : view.comment} onInput={(event) => type(event.currentTarget.value)} onBlur={send} />
    </label>
  );
}

export function Opponent() {
  const { view, game, ask, memory: { details } } = usePage();
  const network = game?.engines.find((entry) => entry.label === (view.engine ?? "")) ?? game?.engines[0];
  return (
    <Card title={t("The engine")}>
      <Level level={view.level} onChange={(event) => ask("level", { level: Number(event.currentTarget.value) })} />
      {network && <p>{learned(network)}</p>}
      {network && details && (
        <details>
          <summary>{t("How strong is it?")}</summary>
          <p><strong>{network.name}</strong>: {network.strength || t("no matches are known")}.</p>
          {view.game === "go" && (
            <p>
              {t("On 9×9, level 8 is about as strong as GNU Go at its level 1, and level 9 as GNU Go at its level 10.")}
              {" "}{t("No level was measured against people.")}
            </p>
          )}
        </details>
      )}
    </Card>
  );
}
