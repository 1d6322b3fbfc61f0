import type { ComponentChildren, TargetedEvent } from 'preact';
import { Choice, Input, button, type Options } from './parts.tsx';
import { changeFilters, place } from './place.ts';
import { fieldValue, isoOf } from './time.ts';

/** A control whose value is part of the address, under its name. */
export interface Filter {
  name: string;
  label: string;
  /** Of a select element. */
  options?: Options;
  /** Of an input element; text if absent. */
  type?: 'date' | 'datetime-local';
  placeholder?: string;
  maxLength?: number;
  /** The value without one in the address; else the first option, or none. */
  initial?: string;
  /** Whether it is in a part of the form that opens on demand. */
  isFolded?: boolean;
}

/** Options for one of these values, or any. */
export const anyOf = (values: readonly string[]): Options => [
  ['', 'Any'],
  ...values.map((value) => [value, value] as const),
];

/** The value of the address; the initial one instead of what the control cannot show. Times are ISO times. */
const valueOf = ({ name, options, type, initial = options?.[0]?.[0] ?? '' }: Filter): string => {
  const given = place.value.filters.get(name) ?? initial;
  if (options) return options.some(([value]) => value === given) ? given : initial;
  if (type === 'date') return Number.isNaN(Date.parse(given)) ? initial : given;
  return type === 'datetime-local' ? isoOf(fieldValue(given)) : given;
};

/** The values of filters by name; empty ones are left out. */
export const filterValues = (filters: readonly Filter[]): Record<string, string> =>
  Object.fromEntries(
    filters.map((filter) => [filter.name, valueOf(filter)] as const).filter(([, value]) => value !== ''),
  );

/** The query of a page of a list. */
export const listQuery = (filters: readonly Filter[], limit = 25): string => {
  const page = Math.max(1, Math.trunc(Number(place.value.filters.get('page'))) || 1);
  return new URLSearchParams({
    ...filterValues(filters),
    page: String(page),
    limit: String(limit),
  }).toString();
};

/** The filter for a player, which all views of the wallet have in common. */
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
  const onChange = ({ currentTarget: { value: entered } }: TargetedEvent<HTMLInputElement>): void =>
    change(isTime ? isoOf(entered) : entered.trim());
  const more = { label, placeholder, maxLength, onChange };
  if (type)
    return <Input {...more} type={type} required={!isTime} value={isTime ? fieldValue(value) : value} />;
  return <Input {...more} value={value} />;
};

interface FilterForm {
  filters: readonly Filter[];
  /** Stands before the filters. */
  first?: ComponentChildren;
  /** The name of the part that opens on demand, and whether it is open at first. */
  folded?: readonly [name: string, isOpen: boolean];
  children?: ComponentChildren;
}

/** A form for the filters of a list. A change goes into the address, from which the view reads the values. */
export const Filters = ({ filters, first, folded: [name, isOpen] = ['', false], children }: FilterForm) => {
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
      {name !== '' && (
        <details open={isOpen}>
          <summary>{name}</summary>
          {controls(true)}
        </details>
      )}
      {children}
    </form>
  );
};

/** A form for a player, and below it the player that it names. Fields are read when they are left, so it needs no handler. */
export const OfPlayer = ({ children }: { children: (playerId: string) => ComponentChildren }) => {
  const { playerId } = filterValues([playerFilter]);
  return (
    <>
      <Filters filters={[playerFilter]}>{button('Show', undefined, 'quiet')}</Filters>
      {playerId !== undefined && children(playerId)}
    </>
  );
};
