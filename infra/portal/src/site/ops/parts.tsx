import {
  createPortal,
  type ButtonHTMLAttributes,
  type ComponentChildren,
  type InputHTMLAttributes,
  type JSX,
  type SelectHTMLAttributes,
  type TargetedEvent,
} from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { pretty } from './text.ts';
import { when } from './time.ts';

/** A value of a table or a list of facts; null is shown as a dash. */
export type Cell = JSX.Element | string | null;

/** What a table shows of a record, by the names of its columns. */
export type Columns<Row> = Readonly<Record<string, (row: Row) => Cell>>;

/** Names and values. */
export const facts = (values: Readonly<Record<string, Cell>>) => (
  <dl class="facts">
    {Object.entries(values).map(([name, value]) => (
      <div key={name}>
        <dt>{name}</dt>
        <dd>{value ?? '–'}</dd>
      </div>
    ))}
  </dl>
);

/** A fact that is left out when there is none. */
export const known = (name: string, value: Cell): Record<string, Cell> =>
  value === null ? {} : { [name]: value };

export type Look = 'good' | 'warn' | 'bad' | 'plain';

export const state = (look: Look, text: string) => (
  <span class="state" data-state={look}>
    {text}
  </span>
);

const looks: Readonly<Partial<Record<string, Look>>> = {
  done: 'good',
  closed: 'good',
  active: 'good',
  pending: 'warn',
  open: 'warn',
  failed: 'bad',
  refused: 'bad',
  disabled: 'bad',
};

/** The status of a record as a badge. */
export const badge = (status: string | null, look = looks[status ?? ''] ?? 'plain') =>
  state(look, status ?? '–');

/** An amount with its currency, unless that is in another column. */
export const money = (amount: string, currency = '') => (
  <span class="money">
    {amount}
    {currency !== '' && (
      <>
        {' '}
        <span class="unit">{currency}</span>
      </>
    )}
  </span>
);

/** A time that does not break into two lines. */
export const time = (iso: string | null): JSX.Element | null =>
  iso === null ? null : <time dateTime={iso}>{when(iso)}</time>;

export const code = (text: string) => <code>{text}</code>;

/** A text that scrolls. */
// oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- it scrolls with the keyboard
export const Verbatim = ({ text }: { text: string }) => <pre tabIndex={0}>{text}</pre>;

/** A value as JSON that scrolls. */
export const Json = ({ value }: { value: unknown }) => <Verbatim text={pretty(value)} />;

/** A button, with a class that says how it looks. Without an action of its own it sends its form. */
export const button = (
  text: ComponentChildren,
  onClick?: () => unknown,
  look?: string,
  { key, ...more }: Pick<ButtonHTMLAttributes, 'disabled' | 'key' | 'ref'> = {},
) => (
  <button
    key={key}
    type={onClick ? 'button' : 'submit'}
    class={look}
    onClick={onClick && (() => void onClick())}
    {...more}
  >
    {text}
  </button>
);

/** A button that opens a record; the key finds it again in a list that was read again. */
export const opener = (text: Cell, key: string, open: () => void, look = 'link') => (
  <button type="button" class={look} data-key={key} onClick={open}>
    {text}
  </button>
);

/** Text for a list without entries. */
export const nothing = (text: string) => <p class="note soft">{text}</p>;

interface Labelled {
  label: string;
  id?: string;
}

const idOf = (label: string): string => `field-${label.toLowerCase().replaceAll(/\W+/g, '-')}`;

/** The last time that a field for one takes: browsers let a year have six digits. */
const lastTimes: Readonly<Record<string, string>> = {
  date: '9999-12-31',
  'datetime-local': '9999-12-31T23:59',
};

/** A labelled input element. */
export const Input = ({ label, id = idOf(label), ...more }: Labelled & InputHTMLAttributes) => (
  <div class="field">
    <label htmlFor={id}>{label}</label>
    <input
      id={id}
      autoComplete="off"
      max={typeof more.type === 'string' ? lastTimes[more.type] : undefined}
      {...more}
    />
  </div>
);

/** The values and the texts of a select element. */
export type Options = readonly (readonly [value: string, text: string])[];

interface Choosing extends Labelled {
  options: Options;
  /** The option that is chosen at first, when there is no `value`. */
  initial?: string | undefined;
}

/** A labelled select element. */
export const Choice = ({
  label,
  options,
  initial,
  id = idOf(label),
  ...more
}: Choosing & SelectHTMLAttributes) => (
  <div class="field">
    <label htmlFor={id}>{label}</label>
    <select id={id} {...more}>
      {options.map(([value, text]) => (
        <option key={value} value={value} selected={value === initial}>
          {text}
        </option>
      ))}
    </select>
  </div>
);

/** The values that were entered into a form, by the names of its controls. */
export const enteredIn = (event: TargetedEvent<HTMLFormElement>): Record<string, string> => {
  event.preventDefault();
  const entries = [...new FormData(event.currentTarget)];
  return Object.fromEntries(
    entries.filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  );
};

/** Moves the focus to an element that appears. Use it as its `ref`. */
export const takeFocus = (element: HTMLElement | null): void => element?.focus();

/** The browser returns the focus to what opened a dialog, unless that was drawn again meanwhile. */
const returnFocus = (opener: Element | null): void => {
  if (!(opener instanceof HTMLElement) || opener.isConnected) return;
  const key = CSS.escape(opener.dataset['key'] ?? '');
  document.querySelector<HTMLElement>(`[data-key="${key}"]`)?.focus();
};

interface OpenDialog {
  title: string;
  actions?: ComponentChildren;
  closed: () => void;
  children: ComponentChildren;
}

/**
 * A modal dialog: a heading, content that scrolls, and actions that stay visible. The browser manages the focus and
 * closes it on Escape; then `closed` is called.
 */
export const Dialog = ({ title, actions, closed, children }: OpenDialog) => {
  const dialog = useRef<HTMLDialogElement>(null);
  const opener = useRef<Element | null>(null);
  useLayoutEffect(() => {
    opener.current = document.activeElement;
    dialog.current?.showModal();
  }, []);
  const onClose = (): void => {
    closed();
    returnFocus(opener.current);
  };
  // Outside of the view, whose styles are not those of a dialog.
  return createPortal(
    <dialog ref={dialog} aria-labelledby="dialog-heading" onClose={onClose}>
      <div class="dialog-head">
        <h2 id="dialog-heading">{title}</h2>
        {button('Close', () => dialog.current?.close(), 'quiet')}
      </div>
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- it scrolls with the keyboard */}
      <div class="dialog-content" tabIndex={0}>
        {children}
      </div>
      {actions && <div class="actions">{actions}</div>}
    </dialog>,
    document.body,
  );
};
