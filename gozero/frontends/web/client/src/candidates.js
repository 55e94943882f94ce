// Which moves of an analysis are worth reading: those with enough visits to be believed, in the order of what is shown of them.

const LEAST_VISITS = 5, LEAST_SHARE = 0.03; // of the move that has most
const ENOUGH_VISITS = 100; // with which a move is listed whatever its share

export function candidates(moves, byVisits) {
  const most = Math.max(0, ...moves.map((move) => move.visits));
  const least = Math.max(2, Math.min(most, LEAST_VISITS), Math.min(ENOUGH_VISITS, LEAST_SHARE * most));
  const order = byVisits ? (one, other) => other.visits - one.visits : (one, other) => other.chance - one.chance;
  return moves.filter((move) => move.visits >= least).sort(order);
}
