import { element } from '../element.ts';
import { field } from './parts.ts';
import { changeFilters, place } from './place.ts';
import { fieldValue, isoOf } from './time.ts';

type Control = HTMLInputElement | HTMLSelectElement;

/** A form whose values are part of the address. */
export interface Filters {
  form: HTMLFormElement;
  /** The values by name; times as ISO times, empty ones are left out. */
  values: () => Record<string, string>;
  /** The page of the list, from 1. */
  page: () => number;
  /** Shows another page. */
  go: (page: number) => void;
}

/** A button for a form whose fields are read when they are left, so it needs no handler. */
export const showButton = (): HTMLButtonElement =>
  element('button', { type: 'submit', class: 'quiet' }, 'Show');

const isTime = ({ type }: Control): boolean => type === 'datetime-local';

const write = (control: Control, value: string): void => {
  control.value = isTime(control) ? fieldValue(value) : value;
  // The address may contain a value that is not one of the options.
  if (control instanceof HTMLSelectElement && control.selectedIndex < 0) control.selectedIndex = 0;
};

const read = (control: Control): string => (isTime(control) ? isoOf(control.value) : control.value.trim());

/**
 * A form for the filters of a list, filled in from the address; a change goes into the address and calls `load`. The
 * names of the controls are those in the address.
 */
export const createFilters = (
  controls: Readonly<Record<string, readonly [label: string, control: Control]>>,
  load: () => void,
  ...more: Node[]
): Filters => {
  const entries = Object.entries(controls);
  const { filters } = place();
  for (const [name, [, control]] of entries) {
    const value = filters.get(name);
    if (value !== null) write(control, value);
  }
  const all = () => Object.fromEntries(entries.map(([name, [, control]]) => [name, read(control)]));
  const fields = entries.map(([, [label, control]]) => field(label, control));
  const form = element('form', { class: 'filters', 'aria-label': 'Filter' }, ...fields, ...more);
  form.addEventListener('change', () => {
    changeFilters({ ...all(), page: '' });
    load();
  });
  form.addEventListener('submit', (event) => event.preventDefault());
  return {
    form,
    values: () => Object.fromEntries(Object.entries(all()).filter(([, value]) => value !== '')),
    page: () => Math.max(1, Math.trunc(Number(place().filters.get('page'))) || 1),
    go: (page) => {
      changeFilters({ page: page === 1 ? '' : String(page) });
      load();
    },
  };
};
