import type { Wallet, WalletAnswer } from './api.ts';
import { isRepairable, pathOf, reasonText, type Difference } from './reconciliation-data.ts';
import { decimalOf } from './text.ts';
import type { Session } from './session.ts';

/** What the ledger decided about the repair of a difference, or would decide. */
export type Repair = Pick<Wallet['Repairs']['repairs'][number], 'number' | 'state' | 'status' | 'reason'>;

/** All differences of a kind that can be repaired; of all kinds without one. */
export const repairable = async (session: Session, id: string, kind = ''): Promise<Difference[]> => {
  const found: Difference[] = [];
  for (let page = 1, more = true; more; page++) {
    const query = new URLSearchParams({ ...(kind !== '' && { kind }), page: String(page), limit: '200' });
    const list = await session.ask<WalletAnswer<'listDifferences'>>(`${pathOf(id)}/differences?${query}`);
    found.push(...list.differences.filter(isRepairable));
    more = list.page.has_more;
  }
  return found;
};

const minorOf = (amount: string | null): bigint => BigInt((amount ?? '0').replace('.', ''));

/** The money that repairs move: `debits of 10.00 EUR` for each operation and currency of the statement. */
export const moneyOf = (differences: readonly Difference[]): string[] => {
  const moves = differences.flatMap(({ repair, there }) => (repair === 'apply' && there ? [there] : []));
  const groups = Map.groupBy(moves, ({ operation, currency }) => `${operation} ${currency ?? ''}`);
  return [...groups.values()].map((same) => {
    const sum = decimalOf(String(same.reduce((total, { amount }) => total + minorOf(amount), 0n)));
    const unknown = same.filter(({ amount }) => amount === null).length;
    const rest = unknown === 0 ? '' : ` and ${unknown} without an amount in the statement`;
    return `${same[0]?.operation}s of ${sum} ${same[0]?.currency ?? "in the player's currency"}${rest}`;
  });
};

const atOnce = 100;

/**
 * Sends repairs, or a dry run of them, and reports how many are decided after each request. What waits for a transaction
 * in a later request is sent again, as long as this changes something. Stops when `stop` says so.
 */
export const sendRepairs = async (
  session: Session,
  id: string,
  numbers: readonly number[],
  isDryRun: boolean,
  report: (decided: number) => void = () => {},
  stop: () => boolean = () => false,
): Promise<Repair[]> => {
  const results = new Map<number, Repair>();
  for (let left = numbers; left.length > 0 && !stop();) {
    for (let at = 0; at < left.length && !stop(); at += atOnce) {
      const body = { dryRun: isDryRun, differences: left.slice(at, at + atOnce) };
      const { repairs } = await session.ask<WalletAnswer<'repairDifferences'>>(
        `${pathOf(id)}/repairs`,
        'POST',
        body,
      );
      for (const repair of repairs) results.set(repair.number, repair);
      report(results.size);
    }
    const waiting = left.filter((number) => results.get(number)?.reason === 'earlier_first');
    left = isDryRun || waiting.length === left.length ? [] : waiting;
  }
  return [...results.values()];
};

const outcomeOf = ({ state, status, reason }: Repair, isDryRun: boolean): string => {
  if (state === 'applied') return isDryRun ? 'already repaired' : 'repaired';
  if (status === 'OK') return 'would be repaired';
  if (reason === 'earlier_first') return isDryRun ? 'would wait' : 'still waiting';
  if (state === 'applying') return 'being repaired by somebody else';
  return isDryRun ? 'would be refused' : 'refused';
};

/** Results that have the same outcome and the same reason. */
export interface Outcome {
  text: string;
  isGood: boolean;
  numbers: number[];
}

/** Groups results by what came of them, the largest group first. */
export const outcomesOf = (results: readonly Repair[], isDryRun: boolean): Outcome[] => {
  const groups = Map.groupBy(results, (result) => {
    const isGood = result.status === 'OK' || result.state === 'applied';
    const reason = isGood || result.reason === null ? '' : `: ${reasonText(result.reason)}`;
    return `${outcomeOf(result, isDryRun)}${reason}`;
  });
  return [...groups]
    .map(([text, same]) => ({
      text,
      isGood: same.every(({ status, state }) => status === 'OK' || state === 'applied'),
      numbers: same.map(({ number }) => number),
    }))
    .toSorted((a, b) => b.numbers.length - a.numbers.length);
};
