// What this browser stores: the user's settings, and games for a server that does not have them, because it cannot write
// or uses another folder. Some browsers store nothing, and damaged values are as good as none.

const SETTINGS = "gozero", PREFIX = "gozero game ", MOST = 20;
const USUAL = {
  sound: false, theme: "auto", language: "auto", coordinates: true, details: false, leads: false, variations: true, legal: true,
  warns: false,
};

/** What `act` returns, or `otherwise`. */
function attempt(act, otherwise = null) {
  try {
    return act();
  } catch {
    return otherwise;
  }
}

const read = (name) => attempt(() => JSON.parse(localStorage.getItem(name)));

export const settings = () => ({ ...USUAL, ...read(SETTINGS) });

export const storeSettings = (values) => attempt(() => localStorage.setItem(SETTINGS, JSON.stringify(values)));

/** The snapshot of a game, null if this browser has none. */
export const storedGame = (identity) => read(PREFIX + identity);

export const deleteGame = (identity) => attempt(() => localStorage.removeItem(PREFIX + identity));

/** The games with their titles, the one played last first; a game without a move has no title. */
export function storedGames() {
  const names = attempt(() => Object.keys(localStorage).filter((name) => name.startsWith(PREFIX)), []);
  const games = names.map((name) => ({ identity: name.slice(PREFIX.length), played: 0, ...read(name)?.title }));
  return games.sort((one, other) => other.played - one.played);
}

/** Store a snapshot. If there is no room, the games played longest ago go. */
export function storeGame(saved) {
  const { identity } = saved.game, name = PREFIX + identity, text = JSON.stringify(saved);
  const store = () => attempt(() => { localStorage.setItem(name, text); return true; }, false);
  if (attempt(() => localStorage.getItem(name)) && store()) return;
  const others = storedGames().filter((game) => game.identity !== identity);
  for (const game of others.splice(MOST - 1)) deleteGame(game.identity);
  while (!store() && others.length) deleteGame(others.pop().identity);
}
