// What this browser remembers for the user: sound, colours, what is shown. Where it may not remember, the usual values hold.

import { attempt } from "./stored.js";

const KEY = "gozero";
const USUAL = {
  sound: false, theme: "auto", language: "auto", coordinates: true, details: false, leads: false, variations: true, legal: true,
  warns: false,
};

export const remembered = () => ({ ...USUAL, ...attempt(() => JSON.parse(localStorage.getItem(KEY))) });

export const remember = (values) => attempt(() => localStorage.setItem(KEY, JSON.stringify(values)));

let audio = null;

/** A short wooden click. */
export function click() {
  audio ??= new AudioContext();
  const at = audio.currentTime, tone = audio.createOscillator(), volume = audio.createGain();
  tone.frequency.setValueAtTime(820, at);
  tone.frequency.exponentialRampToValueAtTime(180, at + 0.05);
  volume.gain.setValueAtTime(0.25, at);
  volume.gain.exponentialRampToValueAtTime(0.001, at + 0.09);
  tone.connect(volume).connect(audio.destination);
  tone.start(at);
  tone.stop(at + 0.1);
}
