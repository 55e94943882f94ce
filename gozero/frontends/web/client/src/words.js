// How numbers and sides are written.

import { decimal, t } from "./translate.js";

export const percent = (share) => (share === null || share === undefined ? "–" : `${decimal(100 * share, share > 0.995 || share < 0.005 ? 1 : 0)} %`);
export const lead = (score) => (score === null || score === undefined ? "–" : `${score > 0 ? "+" : score < 0 ? "−" : ""}${decimal(Math.abs(score), 1)}`);

export function ahead(score, unit) {
  const values = { lead: decimal(Math.abs(score), 1), unit: t(unit) };
  if (score === 0) return t("neither side is ahead");
  return t(score > 0 ? "Black is ahead by {lead} {unit}" : "White is ahead by {lead} {unit}", values);
}

export const short = (count) => new Intl.NumberFormat("en", { notation: "compact" }).format(count);
export const side = (colour) => ({ black: t("Black"), white: t("White") })[colour] ?? "";
/** A move in words, of [colour, vertex]; null stands for a pass. */
export const moveWords = ([colour, vertex]) => t(vertex === null ? "{side} passes" : "{side} {vertex}", { side: side(colour), vertex });

export const rival = (colour) => (colour === "black" ? "white" : "black");
export const levelWords = (level) => (level === 1 ? t("1, the weakest") : level === 20 ? t("20, the strongest") : t("{level} of 20", { level }));
export const sizes = (cols, rows) => `${cols}×${rows}`;

export function time(seconds) {
  const whole = Math.max(0, Math.ceil(seconds));
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, "0")}`;
}

/** How a network came to play, in one sentence. */
export function learned({ trained }) {
  if (!trained.length) return t("It has not learned this game, and plays weakly.");
  const wide = [...new Set([trained[0], trained.at(-1)])].join("–");
  return t("It learned the game on boards {sizes} points wide, by playing against itself alone.", { sizes: wide });
}

export const untrained = (board) => t("Not trained on {board}: expect weak moves and wrong estimates.", { board });

/** A sentence of the server's in the reader's language, if it is translated; a point at its beginning is its value. */
export function reported(text) {
  const [, move, rest] = /^(\S*\d\S*) (.+)$/.exec(text) ?? [];
  return move ? t(`{move} ${rest}`, { move }) : t(text);
}
