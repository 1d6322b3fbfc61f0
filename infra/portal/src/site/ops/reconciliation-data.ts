import type { Wallet } from './api.ts';
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
