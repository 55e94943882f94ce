// The page's texts in the reader's language: the English text is the key, as in gettext.

let catalogue = {}; // English text → the same in the chosen language

export const choose = (texts) => (catalogue = texts);

/** A text with its values put in: t("Black wins by {points}", { points }). A text without a translation stays English. */
export const t = (text, values = {}) => (catalogue[text] ?? text).replace(/\{(\w+)\}/g, (_, name) => values[name]);
