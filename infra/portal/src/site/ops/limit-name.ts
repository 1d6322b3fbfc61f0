import type { Wallet } from './api.ts';

/** What a limit is on, and for how long. */
export type LimitSlot = Pick<Wallet['LimitChange'], 'kind' | 'period'>;

/** What limits of money are on. */
export const kinds = { deposit: 'Deposits', wager: 'Bets', loss: 'Losses' };

const periods = { '24h': '24 hours', '7d': '7 days', month: 'a month' };

/** The name of a limit for people, such as `Losses in 24 hours`. */
export const nameOfLimit = ({ kind, period }: LimitSlot): string =>
  kind === 'session' || period === 'session' ? 'Session time' : `${kinds[kind]} in ${periods[period]}`;
