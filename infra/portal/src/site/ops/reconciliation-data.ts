import { csvLine } from '@platform/service-kit/csv';
import type { Wallet, WalletAnswer } from './api.ts';
import { readAll, type Session } from './session.ts';
import { words } from './text.ts';

/** A comparison of a statement with our entries. */
export type Reconciliation = Wallet['Reconciliation'];

/** How many differences of a kind there are, and how many of them are not repaired. */
export type KindCount = Wallet['ReconciliationWithKinds']['kinds'][number];

export type Difference = Wallet['Difference'];

/** A transaction as the statement (`there`) or the ledger (`here`) has it. */
export type Side = NonNullable<Difference['here' | 'there']>;

/** The path of a reconciliation in the API. */
export const pathOf = (id: string): string => `/v1/reconciliations/${encodeURIComponent(id)}`;

/** Whether it still changes by itself. */
export const isRunning = ({ status }: Reconciliation): boolean =>
  status === 'receiving' || status === 'comparing';

const kinds: Readonly<Record<string, string>> = {
  missing_here: 'missing in the ledger',
  missing_there: 'missing in the statement',
  amount: 'amount differs',
  player: 'player differs',
  currency: 'currency differs',
  parameters: 'operation, round or game differs',
  round_state: 'round open on one side only',
  duplicate: 'twice in the statement',
  time: 'time differs',
} satisfies Record<Difference['kind'], string>;

/** A kind of difference in words. */
export const kindText = (kind: Difference['kind']): string => kinds[kind] ?? words(kind);

const failures: Readonly<Record<string, string>> = {
  interrupted: 'The upload was interrupted. Send the statement again.',
  invalid_statement: 'The statement has invalid lines, so it was refused as a whole.',
  too_many_differences:
    'There are too many differences. Most likely the period, the columns or the player ids are not those of the statement.',
  one_factor:
    'Most amounts of a currency differ from ours by one factor, so they are in another unit or currency, such as cents. The statement was refused as a whole.',
  withdrawn: 'The reconciliation was withdrawn: nothing more is repaired from it.',
  internal: 'Something went wrong. The log of the wallet says what; then send the statement again.',
};

/** Why a reconciliation failed. */
export const failureText = (failure: string): string => failures[failure] ?? words(failure);

const repairs: Readonly<Record<string, string>> = {
  apply: 'apply it',
  close_round: 'close the round',
  ask_game_server: 'none: ask the game server',
} satisfies Record<Difference['repair'], string>;

/** The repair that is proposed for a difference. */
export const repairText = ({ repair }: Pick<Difference, 'repair'>): string =>
  repairs[repair] ?? words(repair);

/** Whether the ledger can repair the difference and has not done so. */
export const isRepairable = ({ repair, state }: Pick<Difference, 'repair' | 'state'>): boolean =>
  repair !== 'ask_game_server' && state !== 'applied';

const reasons: Readonly<Record<string, string>> = {
  earlier_first: 'an earlier transaction of the round is missing',
  received_for_another_player: 'it has arrived for another player meanwhile; ask the game server whose it is',
  earlier_statement_first: 'its bet may be in the statement of the time before, which was not compared',
};

/** Why the ledger does not repair a difference. */
export const reasonText = (reason: string | null): string => reasons[reason ?? ''] ?? words(reason ?? '');

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

/** Differences as the API writes them into its files, for those that somebody has chosen. */
export const jsonLinesOf = (differences: readonly Difference[]): string =>
  differences.map((difference) => `${JSON.stringify(difference)}\n`).join('');

/** The same as CSV, with a first line of names. */
export const csvOf = (differences: readonly Difference[]): string => {
  const [first] = differences;
  const side = first?.there ?? first?.here;
  if (!first || !side) return '';
  const own = (Object.keys(first) as (keyof Difference)[]).filter(
    (name): name is Exclude<keyof Difference, 'there' | 'here'> => name !== 'there' && name !== 'here',
  );
  const there = Object.keys(side) as (keyof Side)[];
  // Our entries have no line.
  const here = there.filter((name) => name !== 'line');
  const names = [...own, ...there.map((name) => `there.${name}`), ...here.map((name) => `here.${name}`)];
  const lines = differences.map((one) => [
    ...own.map((name) => one[name]),
    ...there.map((name) => one.there?.[name] ?? null),
    ...here.map((name) => one.here?.[name] ?? null),
  ]);
  return [names, ...lines].map((line) => csvLine(line)).join('');
};
