// Marks on the points of a position, named as the properties of SGF: how they are drawn and called, and the tools that put them.

import { Button } from "./controls.jsx";
import { usePage } from "./server.js";
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

/** Buttons that choose what a click puts on the board; the same one again chooses nothing. */
export function MarkTools() {
  const { tool, change } = usePage();
  return (
    <div class="options tools" role="group" aria-label={t("Marks")}>
      <span>{t("Mark points:")}</span>
      {TOOLS.map(([name, sign, words]) => (
        <Button key={name} label={t(words)} aria-pressed={tool === name} onClick={() => change({ tool: tool === name ? null : name })}>
          {sign}
        </Button>
      ))}
    </div>
  );
}
