import type { Wallet, WalletAnswer } from './api.ts';
import { readAll, type Session } from './session.ts';
import { isRepairable, kindText, pathOf, reasonText, type Difference } from './reconciliation-data.ts';

/** What the ledger decided about the repair of a difference, or would decide. */
export type Repair = Pick<Wallet['Repairs']['repairs'][number], 'number' | 'state' | 'status' | 'reason'>;

const timeOf = ({ there }: Difference): number => Date.parse(there?.time ?? '1970-01-01');

/** Those of differences that can be repaired, in the order of their times. */
export const inOrder = (differences: readonly Difference[]): Difference[] =>
  differences.filter(isRepairable).toSorted((a, b) => timeOf(a) - timeOf(b));

/** All differences of a kind that can be repaired, in the order of their times; of all kinds without one. */
export const repairable = async (session: Session, id: string, kind?: string): Promise<Difference[]> =>
  inOrder(await readAll<Difference>(session, `${pathOf(id)}/differences`, kind ? { kind } : {}));

/** What the ledger would decide about repairs, and what they would move. */
export type DryRun = WalletAnswer<'makeDryRun'>;

/** The money that the repairs of a dry run move: `debits of 10.00 EUR` for each operation, currency and kind of difference. */
export const moneyOf = ({ sums }: Pick<DryRun, 'sums'>): string[] =>
  sums.map(
    ({ kind, operation, currency, amount }) => `${operation}s of ${amount} ${currency} (${kindText(kind)})`,
  );

/** Differences of one dry run. */
const mostAtOnce = 1000;

/** Whether the ledger would make a repair that is not made yet. */
export const isPossible = ({ status, state }: Repair): boolean => status === 'OK' && state !== 'applied';

/**
 * Makes a dry run of as many differences as one takes. Those that would be refused, or wait, give way to the next ones
 * while they are more than half of it: `leftOut` counts them, `untried` those that come after.
 */
export const makeDryRun = async (
  session: Session,
  id: string,
  numbers: readonly number[],
): Promise<{ run: DryRun; leftOut: number; untried: number }> => {
  for (let chosen: readonly number[] = [], next = 0; ;) {
    const more = numbers.slice(next, next + mostAtOnce - chosen.length);
    next += more.length;
    const differences = [...chosen, ...more];
    const run = await session.ask<DryRun>(`${pathOf(id)}/dry-runs`, 'POST', { differences });
    const untried = numbers.length - next;
    chosen = run.repairs.filter(isPossible).map(({ number }) => number);
    if (untried === 0 || chosen.length > mostAtOnce / 2)
      return { run, leftOut: next - differences.length, untried };
  }
};

/** Applies the repairs of a dry run. */
export const applyDryRun = async (session: Session, id: string, dryRunId: string): Promise<Repair[]> => {
  const { repairs } = await session.ask<WalletAnswer<'repairDifferences'>>(`${pathOf(id)}/repairs`, 'POST', {
    dryRunId,
  });
  return repairs;
};

const outcomeOf = ({ state, status, reason }: Repair, isDryRun: boolean): string => {
  if (state === 'applied') return isDryRun ? 'already repaired' : 'repaired';
  if (status === 'OK') return 'would be repaired';
  if (reason?.startsWith('earlier_')) return isDryRun ? 'would wait' : 'still waiting';
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
