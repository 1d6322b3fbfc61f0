import { readPreference, storePreference } from '../storage.ts';

/** Key of the preference for times in UTC or in the reader's time zone. */
const key = 'time-zone';

let isUtc = readPreference(key) === 'UTC';

const ownZone = new Intl.DateTimeFormat().resolvedOptions().timeZone;

/** The name of the selected time zone. */
export const zoneName = (): string => (isUtc ? 'UTC' : ownZone);

/** Switches between the reader's time zone and UTC. Times that are already on the page do not change. */
export const switchZone = (): void => {
  isUtc = !isUtc;
  storePreference(key, isUtc ? 'UTC' : 'local');
};

/** The label of the button that calls `switchZone`; undefined when the reader's time zone is UTC. */
export const otherZone = (): string | undefined => {
  if (ownZone === 'UTC') return undefined;
  return isUtc ? 'Show local times' : 'Show UTC';
};

const timeParts = { hour: '2-digit', minute: '2-digit', second: '2-digit' } as const;

const format = (at: Date, options: Intl.DateTimeFormatOptions): string =>
  new Intl.DateTimeFormat(undefined, isUtc ? { ...options, timeZone: 'UTC' } : options).format(at);

/** An ISO time as a date and a time of day; a dash for null. */
export const when = (iso: string | null): string => {
  if (iso === null) return '–';
  const at = new Date(iso);
  const year = at.getFullYear() === new Date().getFullYear() ? {} : ({ year: 'numeric' } as const);
  return format(at, { ...timeParts, ...year, month: 'short', day: 'numeric' });
};

/** The time of day. @param seconds since 1970 */
export const timeOfDay = (seconds: number): string => format(new Date(seconds * 1000), timeParts);

/** The value of a field for a date and a time (`datetime-local`) as an ISO time; empty when it is not a time. */
export const isoOf = (value: string): string => {
  const at = new Date(isUtc ? `${value}Z` : value);
  return Number.isNaN(at.getTime()) ? '' : at.toISOString();
};

/** An ISO time as the value of a field for a date and a time (`datetime-local`); empty when no field can show it. */
export const fieldValue = (iso: string, { withSeconds = false } = {}): string => {
  const at = new Date(iso);
  const offset = isUtc ? 0 : at.getTimezoneOffset() * 60_000;
  const shown = new Date(at.getTime() - offset);
  const year = shown.getUTCFullYear();
  // A field has four digits for the year.
  if (!(year >= 0 && year <= 9999)) return '';
  return shown.toISOString().slice(0, withSeconds ? 'yyyy-mm-ddThh:mm:ss'.length : 'yyyy-mm-ddThh:mm'.length);
};
