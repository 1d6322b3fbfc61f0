/** The rules of player limits. docs/adr/0035-player-limits.md explains periods and counters. */

import { decimal } from '@platform/wallet-protocol/money';
import type { RefusedLimit } from '../db/reporting.ts';
import type { Entry } from '../ledger/entry.ts';

export const kinds = ['deposit', 'wager', 'loss', 'session'] as const;
export type Kind = (typeof kinds)[number];

export const moneyPeriods = ['24h', '7d', 'month'] as const;
export type MoneyPeriod = (typeof moneyPeriods)[number];
/** Session time has one period: the session. */
export type Period = MoneyPeriod | 'session';

/** The lowest limit in force of one kind and period. */
export interface Limit {
  kind: Kind;
  period: Period;
  /** Minor units, or minutes of a session. */
  value: bigint;
  /** Start of the period. */
  since: Date;
  /** Sum of the deposits since then; only of limits on deposits. */
  deposited: bigint | undefined;
}

/** The start of a period, and the sums of the counted entries before it. */
export interface Window {
  period: Period;
  since: Date;
  /** Sequence number of the last entry before the period. */
  afterSeq: bigint;
  wagered: bigint;
  lost: bigint;
}

export interface Totals {
  /** Debits that were not reversed, since counting began. What a period uses is the difference to the sum of its window. */
  wagered: bigint;
  /** The same minus the credits. */
  lost: bigint;
}

/** Limits and counters of one player at one moment. `count` changes them. */
export interface PlayerLimits {
  playerId: string;
  moment: Date;
  limits: Limit[];
  /** When the next pending change takes effect, without changes of deposit limits, which need no counters. */
  nextChange: Date | undefined;
  /** Undefined while no limit concerns bets: then nothing is counted. */
  counters: { totals: Totals; windows: Window[] } | undefined;
  /** Whether a debit was counted since the limits were read. */
  played: boolean;
}

export interface LimitReached {
  kind: Kind;
  period: Period;
  /** Minor units, or minutes of a session. */
  limit: bigint;
  /** The amount that may still be deposited, wagered or lost, in minor units, or the remaining minutes. */
  remaining: bigint;
}

const minuteMs = 60_000;

/** A limit as text: money with two decimals, or minutes of a session. */
export const limitText = (kind: Kind, value: bigint): string =>
  kind === 'session' ? String(value) : decimal(value);

/** The reached limit as stored with the refusal. */
export const limitView = (reached: LimitReached): RefusedLimit => ({
  ...reached,
  limit: limitText(reached.kind, reached.limit),
  remaining: limitText(reached.kind, reached.remaining),
});

const windowOf = ({ counters }: PlayerLimits, period: Period): Window => {
  const window = counters?.windows.find((stored) => stored.period === period);
  if (window === undefined) throw new Error(`no counters were read for the period ${period}`);
  return window;
};

/** Whether debits and credits of the player must be counted, because of a limit in force or a pending change. */
export const isCounted = ({ limits, nextChange }: PlayerLimits): boolean =>
  nextChange !== undefined || limits.some(({ kind }) => kind !== 'deposit');

/** How much of a limit is used: minor units, or full minutes of the session. */
export const usedOf = (player: PlayerLimits, { kind, period, since, deposited = 0n }: Limit): bigint => {
  if (kind === 'deposit') return deposited;
  if (kind === 'session')
    return BigInt(Math.max(0, Math.floor((player.moment.getTime() - since.getTime()) / minuteMs)));
  const { wagered, lost } = windowOf(player, period);
  const totals = player.counters?.totals ?? { wagered, lost };
  return kind === 'wager' ? totals.wagered - wagered : totals.lost - lost;
};

/** The unused part of a limit; 0 when more is used than it allows, for example after it was lowered. */
export const remainingOf = (limit: Limit, used: bigint): bigint =>
  used > limit.value ? 0n : limit.value - used;

/**
 * The limit that forbids a debit or a deposit of `amount`; of several, the one with the least remaining. Undefined when the
 * limits allow it. Only session time can forbid a debit of 0 (a free round).
 */
export const findReachedLimit = (
  player: PlayerLimits,
  operation: 'debit' | 'deposit',
  amount: bigint,
): LimitReached | undefined => {
  const reached = player.limits
    .filter(({ kind }) => (kind === 'deposit') === (operation === 'deposit'))
    .map((limit) => ({ limit, used: usedOf(player, limit) }))
    .filter(({ limit, used }) =>
      limit.kind === 'session' ? used >= limit.value : amount > 0n && used + amount > limit.value,
    )
    .map(({ limit, used }) => ({
      kind: limit.kind,
      period: limit.period,
      limit: limit.value,
      remaining: remainingOf(limit, used),
    }));
  return reached.toSorted((a, b) => (a.remaining < b.remaining ? -1 : a.remaining > b.remaining ? 1 : 0))[0];
};

/**
 * Counts an accepted entry. A reversal removes the debit with the number `reversedSeq` from the counters. `countedEntries` in
 * counters.ts is the same for stored entries.
 */
export const count = (player: PlayerLimits, { operation, amount }: Entry, reversedSeq?: bigint): void => {
  const { limits, counters } = player;
  if (operation === 'debit') player.played = true;
  if (operation === 'deposit') {
    for (const limit of limits) if (limit.deposited !== undefined) limit.deposited += amount;
    return;
  }
  const isReversal = operation === 'rollback' && amount > 0n;
  if (counters === undefined || !(operation === 'debit' || operation === 'credit' || isReversal)) return;
  const change = (sums: Totals): void => {
    sums.lost -= amount;
    if (operation !== 'credit') sums.wagered -= amount;
  };
  change(counters.totals);
  // Windows that begin after the debit contain it, too.
  if (reversedSeq !== undefined)
    counters.windows.filter(({ afterSeq }) => afterSeq >= reversedSeq).forEach(change);
};

const unlimited = 2n ** 63n - 1n;

const lowest = (values: readonly bigint[]): bigint =>
  values.reduce((least, value) => (value < least ? value : least), unlimited);

/**
 * The values of `wagered` and `lost` up to which `commitMoves` may accept debits of a player with counters, and until when:
 * they are valid until an entry may leave a period or a limit changes. If no debit was counted, they are not valid at all,
 * because the next debit may begin a session.
 */
export const capsOf = (player: PlayerLimits) => {
  const { moment, limits, nextChange, played } = player;
  const capOf = (kind: 'wager' | 'loss', sum: keyof Totals): bigint =>
    lowest(
      limits
        .filter((limit) => limit.kind === kind)
        .map(({ period, value }) => value + windowOf(player, period)[sum]),
    );
  const ends = limits
    .filter(({ kind }) => kind === 'session')
    .map(({ since, value }) => since.getTime() + Number(value) * minuteMs);
  const nextMinute = (Math.floor(moment.getTime() / minuteMs) + 1) * minuteMs;
  const until = played ? Math.min(nextMinute, nextChange?.getTime() ?? Infinity, ...ends) : 0;
  return {
    wageredCap: capOf('wager', 'wagered'),
    lostCap: capOf('loss', 'lost'),
    limitsUntil: new Date(until),
  };
};
