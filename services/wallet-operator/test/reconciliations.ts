import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import { createCaller, createFaults, type Caller } from '@platform/wallet-conformance/game-server/caller';
import { playRound } from '@platform/wallet-conformance/game-server/rounds';
import {
  jsonLines,
  roundLosingCaller,
  recordingCaller,
  type StatementLine,
} from '@platform/wallet-conformance/game-server/statement';
import { addGame, addPlayer } from './factories.ts';
import { keys, secret, startService, type Running } from './harness.ts';

export interface DifferenceView {
  number: number;
  kind: string;
  playerId: string;
  transactionId: string;
  there: Record<string, unknown> | null;
  here: Record<string, unknown> | null;
  repair: string;
  state: string;
}

export interface Found {
  reconciliationId: string;
  status: string;
  failure: string | null;
  to: string;
  lines: number;
  fields: { field: string; lines: number }[];
  differences: DifferenceView[];
}

/** The whole last hour; everything that a test did is in it. */
const lastHour = () => {
  const now = Date.now();
  return { from: new Date(now - 3_600_000).toISOString(), to: new Date(now).toISOString() };
};

/** The game server gives up some bets whose answers it does not get. */
const impatient = (caller: Caller, rate: number, random: () => number): Caller => ({
  ...caller,
  call: async (callback, fields) => {
    const answer = await caller.call(callback, fields);
    return callback === 'debit' && random() < rate ? { http: 0 } : answer;
  },
});

/**
 * Plays rounds as the stand-in game server and returns its statement. `dropRate`: of answers that are lost; `giveUpRate`:
 * of bets that are rolled back; `lossRate`: of rounds whose other transactions are not sent, which are added to `unsent`.
 */
export const playStatement = async (
  { url }: Pick<Running, 'url'>,
  players: readonly string[],
  rounds: number,
  { random = Math.random, dropRate = 0, giveUpRate = 0, lossRate = 0, unsent = new Set<string>() } = {},
): Promise<StatementLine[]> => {
  const lines: StatementLine[] = [];
  const patient = createCaller({ url, secret, faults: createFaults({ lost: dropRate }, random) });
  const losing = roundLosingCaller(impatient(patient, giveUpRate, random), lossRate, random, unsent);
  const call = recordingCaller(losing, 'EUR', lines);
  for (let round = 0; round < rounds; round++)
    await playRound(call, {
      playerId: players[round % players.length] ?? '',
      gameCode: 'dice-alpha',
      random,
    });
  return lines;
};

export const bearer = async (scope = 'wallet:admin wallet:read') => ({
  Authorization: `Bearer ${await keys.token({ scope, sub: 'ann' })}`,
});

/** Sends a statement; `query` replaces parts of the query. */
export const sendStatement = async (
  url: string,
  body: string | ReadableStream | Buffer,
  query: Record<string, string> = {},
  type = 'application/x-ndjson',
): Promise<{ status: number; body: Record<string, unknown> }> => {
  // The period ends before `to`, which is now, and PostgreSQL rounds the time of an entry to the next millisecond.
  const called = Date.now();
  while (Date.now() <= called + 1) await sleep(1);
  const answer = await fetch(
    `${url}/v1/reconciliations?${new URLSearchParams({ ...lastHour(), ...query }).toString()}`,
    {
      method: 'POST',
      headers: { ...(await bearer()), 'Content-Type': type },
      body: body as string,
      ...(typeof body === 'string' ? {} : { duplex: 'half' }),
    },
  );
  return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
};

export const getJson = async <T>(url: string, path: string): Promise<T> => {
  const answer = await fetch(url + path, { headers: await bearer() });
  expect(answer.status).toBe(200);
  return (await answer.json()) as T;
};

/** Waits until a reconciliation has ended and returns all of its differences. */
export const waitForDifferences = async (url: string, id: string): Promise<Found> => {
  const path = `/v1/reconciliations/${id}`;
  const status = async () => (await getJson<Found>(url, path)).status;
  await expect.poll(status).toMatch(/done|failed/);
  const differences: DifferenceView[] = [];
  for (let page = 1; ; page++) {
    const list = await getJson<{ differences: DifferenceView[]; page: { has_more: boolean } }>(
      url,
      `${path}/differences?limit=200&page=${page}`,
    );
    differences.push(...list.differences);
    if (!list.page.has_more) break;
  }
  return { ...(await getJson<Found>(url, path)), differences };
};

/** Sends a statement and returns what was found. */
export const reconcile = async (
  url: string,
  lines: readonly Partial<StatementLine>[] | string,
  query: Record<string, string> = {},
  type?: string,
): Promise<Found> => {
  const body = typeof lines === 'string' ? lines : jsonLines(lines as StatementLine[]);
  const sent = await sendStatement(url, body, query, type);
  expect(sent).toMatchObject({ status: 201 });
  return waitForDifferences(url, String(sent.body['reconciliationId']));
};

export const shortly = ({ differences }: Found) =>
  differences.map(({ kind, transactionId }) => `${kind} ${transactionId}`).toSorted();

export interface RepairView {
  number: number;
  playerId: string;
  operation: string | null;
  amount: string | null;
  repair: string;
  state: string;
  status: string | null;
  reason: string | null;
  balance: string | null;
}

export interface DryRunView {
  dryRunId: string;
  sums: { kind: string; operation: string; currency: string | null; repairs: number; amount: string }[];
  repairs: RepairView[];
  approvedBy: string | null;
}

const post = async <T>(url: string, path: string, body: object) => {
  const answer = await fetch(url + path, {
    method: 'POST',
    headers: { ...(await bearer()), 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  });
  const content = (await answer.json()) as T & { code?: string };
  return { ...content, status: answer.status };
};

/** Makes a dry run of these differences. */
export const dryRun = (url: string, id: string, differences: readonly number[]) =>
  post<DryRunView>(url, `/v1/reconciliations/${id}/dry-runs`, { differences });

/** Applies a dry run. */
export const apply = (url: string, id: string, dryRunId: string, maxAmount?: string) =>
  post<{ repairs: RepairView[] }>(url, `/v1/reconciliations/${id}/repairs`, { dryRunId, maxAmount });

/** A dry run of these differences, and unless `isDryRun` its repairs. */
export const repair = async (url: string, id: string, differences: readonly number[], isDryRun: boolean) => {
  const made = await dryRun(url, id, differences);
  return isDryRun || made.status !== 201 ? made : apply(url, id, made.dryRunId);
};

/** Makes a dry run of all differences and applies their repairs. */
export const repairAll = async (url: string, { reconciliationId, differences }: Found) => {
  const made = await dryRun(
    url,
    reconciliationId,
    differences.map(({ number }) => number),
  );
  expect(made.status).toBe(201);
  expect(await apply(url, reconciliationId, made.dryRunId)).toMatchObject({ status: 200 });
};

/** A service of its own: every entry of the hour belongs to the statement. */
export const alone = async (variables: Record<string, string> = {}) => {
  const own = await startService({ variables });
  await addGame(own.context.database.sql);
  const players = await Promise.all([1, 2, 3].map(() => addPlayer(own.context.database.sql)));
  return { own, players, url: own.url };
};

/** A line of a statement: a bet of the present, unless `fields` say otherwise. */
export const lineOf = (fields: Partial<StatementLine>): StatementLine => ({
  transactionId: randomUUID(),
  playerId: '',
  operation: 'debit',
  amount: '1.00',
  currency: 'EUR',
  roundId: randomUUID(),
  gameCode: 'dice-alpha',
  roundClosed: '',
  reverseTransactionId: '',
  // Before the end of the period, which is the present.
  time: new Date(Date.now() - 2000).toISOString(),
  ...fields,
});

/** A statement that has none of our transactions: a bet that was never received, and its rollback, move no money. */
export const withoutMoves = [
  lineOf({ playerId: 'nobody', transactionId: 'never', time: '' }),
  lineOf({ playerId: 'nobody', operation: 'rollback', reverseTransactionId: 'never', amount: '', time: '' }),
];

/** The time `seconds` ago, as an ISO string. */
export const ago = (seconds: number) => new Date(Date.now() - seconds * 1000).toISOString();

/** A bet and the win that closes its round, the newest first: the numbers of their differences are 2 and 1. */
export const missingRound = (playerId: string, win: Partial<StatementLine> = {}): StatementLine[] => [
  lineOf({
    playerId,
    roundId: 'r',
    operation: 'credit',
    amount: '3.00',
    roundClosed: true,
    transactionId: 'win',
    ...win,
  }),
  lineOf({ playerId, roundId: 'r', transactionId: 'bet', time: ago(5) }),
];

/** The entries of the round `r`, in their order. */
export const entriesOf = async ({ context }: Running) => {
  const { sql } = context.database;
  const rows = await sql<{ id: string }[]>`
    select transaction_id as id from entries where round_id = 'r' order by seq`;
  return rows.map(({ id }) => id);
};
