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
import { when } from './time.ts';

/** Content of a cell in a table or of a fact; null is shown as a dash. */
export type CellContent = JSX.Element | string | null;

/** Functions that render the cells of a row, by column name. */
export type Columns<Row> = Readonly<Record<string, (row: Row) => CellContent>>;

/** A list of names and values. */
export const facts = (values: Readonly<Record<string, CellContent>>) => (
  <dl class="facts">
    {Object.entries(values).map(([name, value]) => (
      <div key={name}>
        <dt>{name}</dt>
        <dd>{value ?? '–'}</dd>
      </div>
    ))}
  </dl>
);

/** A fact for `facts`, omitted if the value is null. */
export const optionalFact = (name: string, value: CellContent): Record<string, CellContent> =>
  value === null ? {} : { [name]: value };

export type Color = 'good' | 'warn' | 'bad' | 'plain';

export const stateBadge = (color: Color, text: string) => (
  <span class="state" data-state={color}>
    {text}
  </span>
);

const statusColors: Readonly<Partial<Record<string, Color>>> = {
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
export const statusBadge = (status: string | null, color = statusColors[status ?? ''] ?? 'plain') =>
  stateBadge(color, status ?? '–');

/** An amount, with its currency if that is not in another column. */
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

/** A time, which does not wrap. */
export const time = (iso: string | null): JSX.Element | null =>
  iso === null ? null : <time dateTime={iso}>{when(iso)}</time>;

export const code = (text: string) => <code>{text}</code>;

/** A preformatted text that scrolls. */
// oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- it scrolls with the keyboard
export const Verbatim = ({ text }: { text: string }) => <pre tabIndex={0}>{text}</pre>;

/** A value as indented JSON that scrolls. */
export const Json = ({ value }: { value: unknown }) => (
  <Verbatim text={JSON.stringify(value, null, 2) ?? '–'} />
);

/** A button. Without `onClick` it submits its form. */
export const button = (
  text: ComponentChildren,
  onClick?: () => unknown,
  cssClass?: string,
  { key, ...attributes }: Pick<ButtonHTMLAttributes, 'disabled' | 'key' | 'ref'> = {},
) => (
  <button
    key={key}
    type={onClick ? 'button' : 'submit'}
    class={cssClass}
    onClick={onClick && (() => void onClick())}
    {...attributes}
  >
    {text}
  </button>
);

/** A button that opens a record. After a reload of the list the button is found again by its key. */
export const opener = (text: CellContent, key: string, open: () => void, cssClass = 'link') => (
  <button type="button" class={cssClass} data-key={key} onClick={open}>
    {text}
  </button>
);

/** Text for a list without entries. */
export const emptyNote = (text: string) => <p class="note soft">{text}</p>;

interface LabelProps {
  label: string;
  id?: string;
}

const idOf = (label: string): string => `field-${label.toLowerCase().replaceAll(/\W+/g, '-')}`;

/** Latest value of date fields: without it browsers allow years with six digits. */
const latestTimes: Readonly<Record<string, string>> = {
  date: '9999-12-31',
  'datetime-local': '9999-12-31T23:59',
};

/** A labelled input element. */
export const Input = ({ label, id = idOf(label), ...attributes }: LabelProps & InputHTMLAttributes) => (
  <div class="field">
    <label htmlFor={id}>{label}</label>
    <input
      id={id}
      autoComplete="off"
      max={typeof attributes.type === 'string' ? latestTimes[attributes.type] : undefined}
      {...attributes}
    />
  </div>
);

/** The values and the texts of a select element. */
export type Options = readonly (readonly [value: string, text: string])[];

interface ChoiceProps extends LabelProps {
  options: Options;
  /** The option that is initially selected, if there is no `value`. */
  initial?: string | undefined;
}

/** A labelled select element. */
export const Choice = ({
  label,
  options,
  initial,
  id = idOf(label),
  ...attributes
}: ChoiceProps & SelectHTMLAttributes) => (
  <div class="field">
    <label htmlFor={id}>{label}</label>
    <select id={id} {...attributes}>
      {options.map(([value, text]) => (
        <option key={value} value={value} selected={value === initial}>
          {text}
        </option>
      ))}
    </select>
  </div>
);

/** Handles the submit event of a form and returns its values by the names of the controls. */
export const formValues = (event: TargetedEvent<HTMLFormElement>): Record<string, string> => {
  event.preventDefault();
  const entries = [...new FormData(event.currentTarget)];
  return Object.fromEntries(
    entries.filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  );
};

/** Focuses an element when it appears. Use it as its `ref`. */
export const takeFocus = (element: HTMLElement | null): void => element?.focus();

/** Returns the focus to the control that opened a dialog, if it was rendered again; otherwise the browser returns it. */
const returnFocus = (opener: Element | null): void => {
  if (!(opener instanceof HTMLElement) || opener.isConnected) return;
  const key = CSS.escape(opener.dataset['key'] ?? '');
  document.querySelector<HTMLElement>(`[data-key="${key}"]`)?.focus();
};

interface DialogProps {
  title: string;
  actions?: ComponentChildren;
  onClose: () => void;
  children: ComponentChildren;
}

/**
 * A modal dialog: a heading, content that scrolls, and actions that stay visible. The browser manages the focus and
 * closes it on Escape; then it calls `onClose`.
 */
export const Dialog = ({ title, actions, onClose, children }: DialogProps) => {
  const dialog = useRef<HTMLDialogElement>(null);
  const opener = useRef<Element | null>(null);
  useLayoutEffect(() => {
    opener.current = document.activeElement;
    dialog.current?.showModal();
  }, []);
  const handleClose = (): void => {
    onClose();
    returnFocus(opener.current);
  };
  // Rendered outside the view, so that the styles of the view do not apply.
  return createPortal(
    <dialog ref={dialog} aria-labelledby="dialog-heading" onClose={handleClose}>
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
