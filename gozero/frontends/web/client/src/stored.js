// The games that this browser stores, for a server that does not have them: one that cannot write, or another folder.

const PREFIX = "gozero game ", MOST = 20;

/** Store a snapshot. Where there is no room, the games played longest ago go; some browsers store nothing at all. */
export function storeGame(saved) {
  try {
    const name = PREFIX + saved.game.identity, text = JSON.stringify(saved);
    if (localStorage.getItem(name) === null) dropAfter(MOST - 1);
    for (;;) {
      try {
        return localStorage.setItem(name, text);
      } catch (full) {
        if (!dropAfter(Math.max(0, storedGames().length - 1))) throw full;
      }
    }
  } catch {
    // the server has the game
  }
}

/** The snapshot of a game, null if this browser has none. */
export function storedGame(identity) {
  try {
    return JSON.parse(localStorage.getItem(PREFIX + identity));
  } catch {
    return null;
  }
}

export function deleteGame(identity) {
  try {
    localStorage.removeItem(PREFIX + identity);
  } catch {
    // nothing is stored
  }
}

/** The games with their titles, the one played last first; a game without a move has no title. */
export function storedGames() {
  try {
    const identities = Object.keys(localStorage).filter((name) => name.startsWith(PREFIX)).map((name) => name.slice(PREFIX.length));
    const games = identities.map((identity) => ({ identity, played: 0, ...storedGame(identity)?.title }));
    return games.sort((one, other) => other.played - one.played);
  } catch {
    return [];
  }
}

/** Drop all but the first ones; whether there were more. */
function dropAfter(count) {
  const old = storedGames().slice(count);
  for (const game of old) deleteGame(game.identity);
  return old.length > 0;
}
