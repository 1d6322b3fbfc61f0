import type { Wallet } from './api.ts';
import { NetworkError, Refused } from './session.ts';

/** Text for an error of a service or of the network; other errors are reported as errors of the page. */
export const errorText = (error: unknown): string => {
  if (error instanceof Refused || error instanceof NetworkError) return error.message;
  return `The page could not show this: ${error instanceof Error ? error.message : String(error)}`;
};

/** The separate errors of a refused request; empty if its message contains everything. */
export const mistakesOf = (error: unknown): readonly string[] =>
  error instanceof Refused ? error.mistakes : [];

/** Whether the same request may succeed later: the service was unavailable or busy, or there was no response. */
export const isTemporary = (error: unknown): boolean =>
  !(error instanceof Refused) || error.status >= 500 || error.status === 408 || error.status === 429;

/** Minor units as an amount: 1050 becomes 10.50. */
export const decimalOf = (minor: string | number): string => {
  const text = String(minor);
  const digits = text.replace('-', '').padStart(3, '0');
  return `${text.startsWith('-') ? '-' : ''}${digits.slice(0, -2)}.${digits.slice(-2)}`;
};

/** A number with a noun, such as `1 webhook`. */
export const counted = (count: number, noun: string): string =>
  `${count.toLocaleString()} ${noun}${count === 1 ? '' : 's'}`;

/** A code as words: `missing_here` becomes `missing here`. */
export const words = (code: string): string => code.replaceAll('_', ' ');

/** The operation of an entry. A credit in a round without a bet is promotional: a gift of the operator. */
export const operationText = ({ operation, promotional }: { operation: string; promotional: boolean }) =>
  promotional ? `${operation} (promotional)` : operation;

/** A number with at most three digits. */
export const short = (value: number): string => {
  if (value === 0) return '0';
  if (value < 0.01) return '<0.01';
  return new Intl.NumberFormat(undefined, { maximumSignificantDigits: 3, notation: 'compact' }).format(value);
};

/** Kind and period of a limit. */
export type LimitSlot = Pick<Wallet['LimitChange'], 'kind' | 'period'>;

/** Names of the kinds of money limits. */
export const limitKinds = { deposit: 'Deposits', wager: 'Bets', loss: 'Losses' };

const periods = { '24h': '24 hours', '7d': '7 days', month: 'a month' };

/** The name of a limit for people, such as `Losses in 24 hours`. */
export const limitName = ({ kind, period }: LimitSlot): string =>
  kind === 'session' || period === 'session' ? 'Session time' : `${limitKinds[kind]} in ${periods[period]}`;

/** A span of time in its largest unit, such as `12 min`. */
export const duration = (seconds: number): string => {
  if (seconds < 60) return `${Math.round(seconds)} s`;
  if (seconds < 3600) return `${Math.round(seconds / 60)} min`;
  return seconds < 172_800 ? `${Math.round(seconds / 3600)} h` : `${Math.round(seconds / 86_400)} days`;
};

/** An amount of memory, such as `1.2 MB`. */
export const bytes = (value: number): string => {
  const units = ['B', 'kB', 'MB', 'GB', 'TB'];
  const power = value < 1000 ? 0 : Math.min(Math.floor(Math.log10(value) / 3), units.length - 1);
  return `${short(value / 1000 ** power)} ${units[power]}`;
};

/** The page of a section of a guide: `docs/deploy.md#logs` → `/docs/guides/deploy/#logs`. */
export const guideAddress = (guide: string): string => {
  const [file = '', section = ''] = guide.split('#', 2);
  return `/docs/guides/${file.slice('docs/'.length, -'.md'.length)}/#${section}`;
};
