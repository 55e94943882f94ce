// The page's texts in the reader's language: the English text is the key, as in gettext. A text without a translation
// stays English; `EN` has the names by which options know rules as they are written.

import de from "../languages/de.json";
import ja from "../languages/ja.json";
import ko from "../languages/ko.json";
import zh from "../languages/zh.json";

const EN = {
  aga: "AGA", chinese: "Chinese", "chinese-kgs": "Chinese (KGS)", "chinese-ogs": "Chinese (OGS)", "chinese-simple": "Chinese with simple ko",
  ing: "Ing", japanese: "Japanese", "new-zealand": "New Zealand", "tromp-taylor": "Tromp-Taylor",
};
const CATALOGUES = { en: EN, de, ja, ko, zh };
/** Pairs of a language's code and its name in itself. */
export const LANGUAGES = [["en", "English"], ["de", "Deutsch"], ["ja", "日本語 (下書き)"], ["ko", "한국어 (초안)"], ["zh", "中文（草稿）"]];

let language = "en", catalogue = EN; // English text → the same in the language

/** Use a language from now on: a code, or "auto" for the browser's. */
export function speak(code) {
  const known = code === "auto" ? navigator.languages.map((name) => name.slice(0, 2)).find((name) => name in CATALOGUES) : code;
  language = known in CATALOGUES ? known : "en";
  catalogue = CATALOGUES[language];
  document.documentElement.lang = language;
}

/** A text with its values put in: t("Black wins by {points}", { points }). */
export const t = (text, values = {}) => (catalogue[text] ?? text).replace(/\{(\w+)\}/g, (whole, name) => values[name] ?? whole);

/** A number with so many digits after its point, as the language writes it. */
export const decimal = (value, digits) => new Intl.NumberFormat(language, { minimumFractionDigits: digits, maximumFractionDigits: digits }).format(value);

/** Names a text that `t` gets later, in a table. */
export const english = (text) => text;
