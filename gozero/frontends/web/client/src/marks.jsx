// Marks on the points of a position, named as the properties of SGF: how they are drawn and called, and the tools that put them.

import { useEffect } from "preact/hooks";
import { english, t } from "./translate.js";

const LABEL = "LB:"; // and its text
const SHAPES = { TR: "triangle", SQ: "square", CR: "circle", MA: "cross" };
const TOOLS = [
  ["TR", "△", english("Triangle")], ["SQ", "□", english("Square")], ["CR", "○", english("Circle")], ["MA", "✕", english("Cross")],
  ["LB", "A", english("Letter")],
];

/** A mark as Shudan draws it. */
export const markerOf = (mark) => (mark.startsWith(LABEL) ? { type: "label", label: mark.slice(LABEL.length) } : { type: SHAPES[mark] });

/** A mark in words, for a screen reader. */
export function markInWords(mark) {
  if (mark.startsWith(LABEL)) return t("letter {text}", { text: mark.slice(LABEL.length) });
  return t(TOOLS.find(([name]) => name === mark)[2]);
}

/** Buttons that choose what a click puts on the board; the same one again, or Escape, chooses nothing. */
export function MarkTools({ tool, onTool }) {
  useEffect(() => {
    const press = (event) => event.key === "Escape" && onTool(null);
    if (tool) addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  }, [tool]);
  return (
    <div class="options tools" role="group" aria-label={t("Marks")}>
      <span>{t("Mark points:")}</span>
      {TOOLS.map(([name, sign, words]) => (
        <button
          type="button" key={name} aria-label={t(words)} title={t(words)} aria-pressed={tool === name}
          onClick={() => onTool(tool === name ? null : name)}
        >{sign}</button>
      ))}
    </div>
  );
}
