import { csvLine } from '@platform/service-kit/csv';
import type { Wallet, WalletResponse } from './api.ts';
import { readAll, type Session } from './session.ts';
import { words } from './text.ts';

/** A comparison of a statement with the ledger. */
export type Reconciliation = Wallet['Reconciliation'];

/** Number of differences of a kind, and of those that are not repaired. */
export type KindCount = Wallet['ReconciliationWithKinds']['kinds'][number];

export type Difference = Wallet['Difference'];

/** A transaction in the statement (`there`) or in the ledger (`here`). */
export type Side = NonNullable<Difference['here' | 'there']>;

/** The path of a reconciliation in the API. */
export const pathOf = (id: string): string => `/v1/reconciliations/${encodeURIComponent(id)}`;

/** Whether the comparison is still running. */
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

/** Text for a kind of difference. */
export const kindText = (kind: Difference['kind']): string => kinds[kind] ?? words(kind);

const failures: Readonly<Record<string, string>> = {
  interrupted: 'The upload was interrupted. Send the statement again.',
  invalid_statement: 'The statement has invalid lines, so the whole statement was rejected.',
  too_many_differences:
    'There are too many differences. The period, the columns or the player ids probably do not match the statement.',
  one_factor:
    'Most amounts of a currency differ from the ledger by the same factor, so they are in another unit (such as cents) or currency. The whole statement was rejected.',
  withdrawn: 'The reconciliation was withdrawn: no more repairs are made from it.',
  internal:
    'An internal error occurred. Find the cause in the log of the wallet, then send the statement again.',
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
  received_for_another_player:
    'it has since arrived for another player; ask the game server which player it belongs to',
  earlier_statement_first: 'its bet may be in the previous statement, which was not compared',
};

/** Why the ledger does not repair a difference. */
export const reasonText = (reason: string | null): string => reasons[reason ?? ''] ?? words(reason ?? '');

/** The decision of the ledger about the repair of a difference, or the expected decision in a dry run. */
export type Repair = Pick<Wallet['Repairs']['repairs'][number], 'number' | 'state' | 'status' | 'reason'>;

const timeOf = ({ there }: Difference): number => Date.parse(there?.time ?? '1970-01-01');

/** The repairable differences, sorted by time. */
export const sortRepairable = (differences: readonly Difference[]): Difference[] =>
  differences.filter(isRepairable).toSorted((a, b) => timeOf(a) - timeOf(b));

/** Reads all repairable differences of a kind (or of all kinds), sorted by time. */
export const readRepairable = async (session: Session, id: string, kind?: string): Promise<Difference[]> =>
  sortRepairable(await readAll<Difference>(session, `${pathOf(id)}/differences`, kind ? { kind } : {}));

/** Expected decisions of the ledger about repairs, and the money that they would move. */
export type DryRun = WalletResponse<'makeDryRun'>;

/** The money that the repairs of a dry run move: `debits of 10.00 EUR` for each operation, currency and kind of difference. */
export const moneyOf = ({ sums }: Pick<DryRun, 'sums'>): string[] =>
  sums.map(
    ({ kind, operation, currency, amount }) => `${operation}s of ${amount} ${currency} (${kindText(kind)})`,
  );

/** Maximum number of differences in one dry run. */
const maxDryRunSize = 1000;

/** Whether the ledger would make a repair that has not been made. */
export const isPossible = ({ status, state }: Repair): boolean => status === 'OK' && state !== 'applied';

/**
 * Makes a dry run with the maximum number of differences. While less than half of the repairs are possible, replaces the
 * impossible ones with the next differences. `leftOut` is the number of replaced differences, `untried` the number of
 * remaining ones.
 */
export const makeDryRun = async (
  session: Session,
  id: string,
  numbers: readonly number[],
): Promise<{ run: DryRun; leftOut: number; untried: number }> => {
  let possible: readonly number[] = [];
  let tried = 0;
  for (;;) {
    const added = numbers.slice(tried, tried + maxDryRunSize - possible.length);
    tried += added.length;
    const differences = [...possible, ...added];
    const run = await session.ask<DryRun>(`${pathOf(id)}/dry-runs`, 'POST', { differences });
    possible = run.repairs.filter(isPossible).map(({ number }) => number);
    const untried = numbers.length - tried;
    if (untried === 0 || possible.length > maxDryRunSize / 2)
      return { run, leftOut: tried - differences.length, untried };
  }
};

/** Applies the repairs of a dry run. */
export const applyDryRun = async (session: Session, id: string, dryRunId: string): Promise<Repair[]> => {
  const path = `${pathOf(id)}/repairs`;
  const { repairs } = await session.ask<WalletResponse<'repairDifferences'>>(path, 'POST', { dryRunId });
  return repairs;
};

const outcomeOf = ({ state, status, reason }: Repair, isDryRun: boolean): string => {
  if (state === 'applied') return isDryRun ? 'already repaired' : 'repaired';
  if (status === 'OK') return 'would be repaired';
  if (reason?.startsWith('earlier_')) return isDryRun ? 'would wait' : 'still waiting';
  if (state === 'applying') return 'currently being repaired by another user';
  return isDryRun ? 'would be refused' : 'refused';
};

/** Results with the same outcome and the same reason. */
export interface Outcome {
  text: string;
  isGood: boolean;
  numbers: number[];
}

const isGood = ({ status, state }: Repair): boolean => status === 'OK' || state === 'applied';

/** Groups results by outcome, largest group first. */
export const outcomesOf = (results: readonly Repair[], { isDryRun }: { isDryRun: boolean }): Outcome[] => {
  const groups = Map.groupBy(results, (result) => {
    const reason = isGood(result) || result.reason === null ? '' : `: ${reasonText(result.reason)}`;
    return `${outcomeOf(result, isDryRun)}${reason}`;
  });
  return [...groups]
    .map(([text, members]) => ({
      text,
      isGood: members.every(isGood),
      numbers: members.map(({ number }) => number),
    }))
    .toSorted((a, b) => b.numbers.length - a.numbers.length);
};

/** Formats the selected differences like the JSONL files of the API. */
export const jsonLinesOf = (differences: readonly Difference[]): string =>
  differences.map((difference) => `${JSON.stringify(difference)}\n`).join('');

/** Formats the selected differences like the CSV files of the API, with a header line. */
export const csvOf = (differences: readonly Difference[]): string => {
  const [first] = differences;
  const side = first?.there ?? first?.here;
  if (!first || !side) return '';
  const fields = (Object.keys(first) as (keyof Difference)[]).filter(
    (name): name is Exclude<keyof Difference, 'there' | 'here'> => name !== 'there' && name !== 'here',
  );
  const there = Object.keys(side) as (keyof Side)[];
  // Entries of the ledger have no line number.
  const here = there.filter((name) => name !== 'line');
  const names = [...fields, ...there.map((name) => `there.${name}`), ...here.map((name) => `here.${name}`)];
  const lines = differences.map((difference) => [
    ...fields.map((name) => difference[name]),
    ...there.map((name) => difference.there?.[name] ?? null),
    ...here.map((name) => difference.here?.[name] ?? null),
  ]);
  return [names, ...lines].map((line) => csvLine(line)).join('');
};
