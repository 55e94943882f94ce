// What cards and dialogs are made of.

import { useEffect, useRef } from "preact/hooks";
import { t } from "./translate.js";
import { levelWords } from "./words.js";

export const Stone = ({ colour }) => <span class={`stone ${colour}`} aria-hidden="true" />;

/** A button; `label` names one whose text is a sign. */
export const Button = ({ label, ...rest }) => <button type="button" aria-label={label} title={label} {...rest} />;

/** A text, and behind it a button for what it speaks of, if there is something to do. */
export const Offer = ({ children, label, onClick, ...rest }) => (
  <p {...rest}>{children}{onClick && <> <Button class="link" onClick={onClick}>{label}</Button></>}</p>
);

export const Check = ({ label, on, onChange }) => (
  <label><input type="checkbox" checked={on} onChange={(event) => onChange(event.currentTarget.checked)} /> {label}</label>
);

/** A labelled list to choose from; `options` are pairs of a value and its words. */
export const Choice = ({ label, options, onChange, ...rest }) => (
  <label>{label} <select {...rest} onChange={(event) => onChange(event.currentTarget.value)}>
    {options.map(([value, words]) => <option key={value} value={value}>{words}</option>)}
  </select></label>
);

export const Level = ({ level, ...rest }) => (
  <label class="level">{t("Level")} <strong>{levelWords(level)}</strong><input type="range" min="1" max="20" value={level} {...rest} /></label>
);

export const Card = ({ title, kind = "", children }) => <section class={`card ${kind}`} aria-label={title}><h2>{title}</h2>{children}</section>;

/** A dialog with a button that closes it, then `buttons` or one for `yes`; `onClose` follows in any case. */
export function Dialog({ title, aside, no = t("Cancel"), yes, onYes, buttons, onClose, class: kind = "", children }) {
  const dialog = useRef(null);
  useEffect(() => dialog.current.showModal(), []);
  const submit = (event) => {
    event.preventDefault();
    onYes();
    dialog.current.close();
  };
  return (
    <dialog ref={dialog} class={`dialog ${kind}`} onClose={onClose} aria-labelledby="dialog-title">
      <form onSubmit={submit}>
        <h2 id="dialog-title">{title} {aside && <span class="quiet">{aside}</span>}</h2>
        {children}
        <div class="buttons">
          <button type="button" onClick={() => dialog.current.close()}>{no}</button>
          {buttons}
          {yes && <button type="submit" class="main">{yes}</button>}
        </div>
      </form>
    </dialog>
  );
}
