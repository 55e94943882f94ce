// The games that this browser stores, for a server that does not have them: one that cannot write, or another folder.

const PREFIX = "gozero game ", MOST = 20;

/** What `act` returns, or `otherwise`: some browsers store nothing, and damaged values are as good as none. */
export function attempt(act, otherwise = null) {
  try {
    return act();
  } catch {
    return otherwise;
  }
}

/** The snapshot of a game, null if this browser has none. */
export const storedGame = (identity) => attempt(() => JSON.parse(localStorage.getItem(PREFIX + identity)));

export const deleteGame = (identity) => attempt(() => localStorage.removeItem(PREFIX + identity));

/** Store a snapshot. Where there is no room, the games played longest ago go. */
export function storeGame(saved) {
  const name = PREFIX + saved.game.identity, text = JSON.stringify(saved);
  const store = () => attempt(() => localStorage.setItem(name, text) ?? true, false);
  if (attempt(() => localStorage.getItem(name)) === null) dropAfter(MOST - 1);
  while (!store() && dropAfter(Math.max(0, storedGames().length - 1)));
}

/** The games with their titles, the one played last first; a game without a move has no title. */
export function storedGames() {
  const names = attempt(() => Object.keys(localStorage).filter((name) => name.startsWith(PREFIX)), []);
  const identities = names.map((name) => name.slice(PREFIX.length));
  const games = identities.map((identity) => ({ identity, played: 0, ...storedGame(identity)?.title }));
  return games.sort((one, other) => other.played - one.played);
}

/** Drop all but the first ones; whether there were more. */
function dropAfter(count) {
  const old = storedGames().slice(count);
  for (const game of old) deleteGame(game.identity);
  return old.length > 0;
}
