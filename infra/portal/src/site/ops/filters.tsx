import type { ComponentChildren, TargetedEvent } from 'preact';
import { Choice, Input, button, type Options } from './parts.tsx';
import { changeFilters, place } from './place.ts';
import { fieldValue, isoOf } from './time.ts';

/** A form control whose value is in the address, under its name. */
export interface Filter {
  name: string;
  label: string;
  /** Options of a select element. */
  options?: Options;
  /** Type of an input element; default: text. */
  type?: 'date' | 'datetime-local';
  placeholder?: string;
  maxLength?: number;
  /** Value if the address has none; default: the first option, or empty. */
  defaultValue?: string;
  /** Whether it is in the collapsible part of the form. */
  isFolded?: boolean;
}

/** Options of a select element: any, or one of these values. */
export const anyOf = (values: readonly string[]): Options => [
  ['', 'Any'],
  ...values.map((value) => [value, value] as const),
];

/** The value in the address; the default if the control cannot show that value. Times are ISO times. */
const valueOf = ({ name, options, type, defaultValue = options?.[0]?.[0] ?? '' }: Filter): string => {
  const value = place.value.filters.get(name) ?? defaultValue;
  if (options) return options.some(([option]) => option === value) ? value : defaultValue;
  if (type === 'date') return Number.isNaN(Date.parse(value)) ? defaultValue : value;
  return type === 'datetime-local' ? isoOf(fieldValue(value)) : value;
};

/** The values of filters by name, without empty ones. */
export const filterValues = (filters: readonly Filter[]): Record<string, string> =>
  Object.fromEntries(
    filters.map((filter) => [filter.name, valueOf(filter)] as const).filter(([, value]) => value !== ''),
  );

/** The query string for a page of a list. */
export const listQuery = (filters: readonly Filter[], limit = 25): string => {
  // The address may contain any text.
  const pageInAddress = Math.trunc(Number(place.value.filters.get('page')));
  const page = pageInAddress >= 1 ? pageInAddress : 1;
  return new URLSearchParams({
    ...filterValues(filters),
    page: String(page),
    limit: String(limit),
  }).toString();
};

/** The filter for a player, which all views of the wallet share. */
export const playerFilter: Filter = { name: 'playerId', label: 'Player', maxLength: 255 };

const Control = ({ filter, change }: { filter: Filter; change: (value: string) => void }) => {
  const { label, options, type, placeholder, maxLength } = filter;
  const value = valueOf(filter);
  if (options)
    return (
      <Choice
        label={label}
        options={options}
        value={value}
        onChange={(event) => change(event.currentTarget.value)}
      />
    );
  const isTime = type === 'datetime-local';
  const onChange = ({ currentTarget: { value: text } }: TargetedEvent<HTMLInputElement>): void =>
    change(isTime ? isoOf(text) : text.trim());
  const attributes = { label, placeholder, maxLength, onChange, required: type === 'date' };
  return <Input {...attributes} {...(type && { type })} value={isTime ? fieldValue(value) : value} />;
};

interface FilterForm {
  filters: readonly Filter[];
  /** Content before the filters. */
  first?: ComponentChildren;
  /** The collapsible part, and whether it is initially open. */
  folded?: { title: string; isOpen: boolean };
  children?: ComponentChildren;
}

/** A form for the filters of a list. Changes are written to the address, from which the view reads the values. */
export const Filters = ({ filters, first, folded, children }: FilterForm) => {
  const controls = (areFolded: boolean) =>
    filters
      .filter(({ isFolded = false }) => isFolded === areFolded)
      .map((filter) => (
        <Control
          key={filter.name}
          filter={filter}
          change={(value) => changeFilters({ ...filterValues(filters), [filter.name]: value, page: '' })}
        />
      ));
  return (
    <form class="filters" aria-label="Filter" onSubmit={(event) => event.preventDefault()}>
      {first}
      {controls(false)}
      {folded && (
        <details open={folded.isOpen}>
          <summary>{folded.title}</summary>
          {controls(true)}
        </details>
      )}
      {children}
    </form>
  );
};

/** A form for a player with the player's content below. A change of the field updates the address, so the button has no handler. */
export const PlayerSelection = ({ children }: { children: (playerId: string) => ComponentChildren }) => {
  const { playerId } = filterValues([playerFilter]);
  return (
    <>
      <Filters filters={[playerFilter]}>{button('Show', undefined, 'quiet')}</Filters>
      {playerId !== undefined && children(playerId)}
    </>
  );
};
