// Marks on the points of a position, named as the properties of SGF: how they are drawn and called, and the tools that put them.

import { useEffect } from "preact/hooks";
import { t } from "./translate.js";

const LABEL = "LB:"; // and its text
const SHAPES = { TR: "triangle", SQ: "square", CR: "circle", MA: "cross" };
const TOOLS = [["TR", "△", () => t("Triangle")], ["SQ", "□", () => t("Square")], ["CR", "○", () => t("Circle")], ["MA", "✕", () => t("Cross")], ["LB", "A", () => t("Letter")]];

/** A mark as Shudan draws it. */
export const markerOf = (mark) => (mark.startsWith(LABEL) ? { type: "label", label: mark.slice(LABEL.length) } : { type: SHAPES[mark] });

/** A mark in words, for a screen reader. */
export const markInWords = (mark) => (mark.startsWith(LABEL) ? t("letter {text}", { text: mark.slice(LABEL.length) }) : TOOLS.find(([name]) => name === mark)[2]());

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
        <button type="button" key={name} aria-label={words()} title={words()} aria-pressed={tool === name} onClick={() => onTool(tool === name ? null : name)}>{sign}</button>
      ))}
    </div>
  );
}
