import type { ListPage } from './pages.ts';
import { words } from './text.ts';

/** A comparison of a statement with our entries, as in the API of wallet-operator. */
export interface Reconciliation {
  reconciliationId: string;
  createdAt: string;
  createdBy: string;
  from: string;
  to: string;
  /** In seconds. */
  tolerance: number;
  status: 'receiving' | 'comparing' | 'done' | 'failed';
  failure: string | null;
  lines: number;
  comparedLines: number;
  differences: number;
  /** How many lines state each field; empty until the statement is received. */
  fields: { field: string; lines: number }[];
}

/** How many differences of a kind there are, and how many of them are not repaired. */
export interface KindCount {
  kind: string;
  differences: number;
  open: number;
}

/** A transaction as the statement or the ledger has it. */
export interface Side {
  line: number | null;
  playerId: string;
  operation: string;
  amount: string | null;
  currency: string | null;
  roundId: string | null;
  gameCode: string | null;
  roundClosed: boolean | null;
  reverseTransactionId: string | null;
  time: string | null;
}

export interface Difference {
  number: number;
  kind: string;
  playerId: string;
  transactionId: string;
  /** In the statement. */
  there: Side | null;
  /** In the ledger. */
  here: Side | null;
  repair: string;
  state: 'open' | 'applying' | 'applied' | 'refused';
  status: string | null;
  reason: string | null;
  repairedAt: string | null;
  repairedBy: string | null;
}

export interface DifferencePage {
  differences: Difference[];
  page: ListPage;
}

/** The pause between two looks at a reconciliation that still changes. */
export const refreshMs = 2000;

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
};

/** A kind of difference in words. */
export const kindText = (kind: string): string => kinds[kind] ?? words(kind);

const failures: Readonly<Record<string, string>> = {
  interrupted: 'The upload was interrupted. Send the statement again.',
  invalid_statement: 'The statement has invalid lines, so it was refused as a whole.',
  statement_lost: 'The database lost the statement in a restart. Send it again.',
  too_many_differences:
    'There are too many differences. Most likely the period, the columns or the player ids are not those of the statement.',
  internal: 'Something went wrong. The log of the wallet says what; then send the statement again.',
};

/** Why a reconciliation failed. */
export const failureText = (failure: string): string => failures[failure] ?? words(failure);

const repairs: Readonly<Record<string, string>> = {
  apply: 'apply it',
  close_round: 'close the round',
  ask_game_server: 'none: ask the game server',
};

/** The repair that is proposed for a difference. */
export const repairText = ({ repair }: Pick<Difference, 'repair'>): string =>
  repairs[repair] ?? words(repair);

/** Whether the ledger can repair the difference and has not done so. */
export const isRepairable = ({ repair, state }: Pick<Difference, 'repair' | 'state'>): boolean =>
  repair !== 'ask_game_server' && state !== 'applied';

/** Why the ledger does not repair a difference. */
export const reasonText = (reason: string | null): string =>
  reason === 'earlier_first' ? 'an earlier transaction of the round is missing' : words(reason ?? '');
