import type { Command } from '../src/ledger/command.ts';

/** Limits by their definition: sums over everything that happened, nothing is remembered in counters. */

type Kind = 'deposit' | 'wager' | 'loss' | 'session';
type Period = '24h' | '7d' | 'month' | 'session';
interface Moved {
  operation: 'debit' | 'credit' | 'deposit';
  amount: bigint;
  at: number;
  reversed: boolean;
}

const minute = 60_000;
const hour = 60 * minute;

/** The first instant of the local month, found by asking the calendar of Intl, an hour and then a minute at a time. */
export const monthStart = (at: number, timeZone: string): number => {
  const format = new Intl.DateTimeFormat('en', { timeZone, year: 'numeric', month: 'numeric' });
  const month = format.format(at);
  let start = Math.floor(at / minute) * minute;
  for (const step of [24 * hour, hour, minute]) while (format.format(start - step) === month) start -= step;
  return start;
};

interface Slot {
  kind: Kind;
  period: Period;
  setBy: string;
  value: bigint | undefined;
  pending?: { value: bigint | undefined; at: number } | undefined;
}

export const createLimitsModel = (timeZone: string, sessionBreakMs: number) => {
  const moved = new Map<string, Moved>();
  const slots: Slot[] = [];

  const settle = (now: number): void => {
    for (const slot of slots) {
      if (slot.pending === undefined || slot.pending.at > now) continue;
      slot.value = slot.pending.value;
      slot.pending = undefined;
    }
  };

  const set = (
    setBy: string,
    wanted: readonly { kind: Kind; period: Period; value: bigint }[],
    now: number,
  ) => {
    settle(now);
    for (const { kind, period } of wanted)
      if (!slots.some((slot) => slot.kind === kind && slot.period === period && slot.setBy === setBy))
        slots.push({ kind, period, setBy, value: undefined });
    for (const slot of slots.filter((one) => one.setBy === setBy)) {
      const value = wanted.find(({ kind, period }) => kind === slot.kind && period === slot.period)?.value;
      if (slot.pending && slot.pending.value === value) continue;
      slot.pending = undefined;
      if (value === slot.value) continue;
      if (value !== undefined && (slot.value === undefined || value < slot.value)) slot.value = value;
      else slot.pending = { value, at: now + 24 * hour };
    }
  };

  const sessionStart = (now: number): number => {
    const debits = [...moved.values()].filter(({ operation }) => operation === 'debit').map(({ at }) => at);
    let start = now;
    for (const at of debits.toReversed()) {
      if (start - at >= sessionBreakMs) break;
      start = at;
    }
    return start;
  };

  const used = (kind: Kind, period: Period, now: number): bigint => {
    if (kind === 'session') return BigInt(Math.floor((now - sessionStart(now)) / minute));
    const rolling = Math.floor(now / minute) * minute - (period === '24h' ? 24 : 7 * 24) * hour;
    const since = period === 'month' ? monthStart(now, timeZone) : rolling;
    const counted = [...moved.values()].filter(({ at, reversed }) => at >= since && !reversed);
    const sum = (operation: Moved['operation']) =>
      counted.filter((one) => one.operation === operation).reduce((total, { amount }) => total + amount, 0n);
    if (kind === 'deposit') return sum('deposit');
    return kind === 'wager' ? sum('debit') : sum('debit') - sum('credit');
  };

  const lowest = (now: number) => {
    settle(now);
    const found = new Map<string, { kind: Kind; period: Period; value: bigint }>();
    for (const { kind, period, value } of slots) {
      const key = `${kind} ${period}`;
      if (value !== undefined && value < (found.get(key)?.value ?? 2n ** 63n))
        found.set(key, { kind, period, value });
    }
    return [...found.values()];
  };

  const forbids = (operation: 'debit' | 'deposit', amount: bigint, now: number): boolean =>
    lowest(now).some(({ kind, period, value }) => {
      if ((kind === 'deposit') !== (operation === 'deposit')) return false;
      if (kind === 'session') return used(kind, period, now) >= value;
      return amount > 0n && used(kind, period, now) + amount > value;
    });

  /** Does what a command asks for, unless a limit forbids it: then returns false. A repeat does nothing. */
  const apply = (command: Command, now: number): boolean => {
    if (command.operation === 'rollback') {
      const target = moved.get(command.reverses);
      if (target) target.reversed = true;
    }
    const { operation } = command;
    if (operation !== 'debit' && operation !== 'credit' && operation !== 'deposit') return true;
    const amount = BigInt(command.amount);
    if (moved.has(command.transactionId)) return true;
    if (operation !== 'credit' && forbids(operation, amount, now)) return false;
    moved.set(command.transactionId, { operation, amount, at: now, reversed: false });
    return true;
  };

  return { moved, set, used, lowest, apply };
};
