import { createReadStream, createWriteStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Sql } from 'postgres';
import { fillLedger } from './filling.ts';
import { debitFor, players, type Wallet } from './wallet.ts';

const connections = 64;
const perSecond = 1000;
/** As long as a statement may take, so that callbacks are sent during all of it. */
const loadSeconds = 60;

interface Statement {
  file: string;
  lines: number;
  from: string;
  to: string;
}

/**
 * The bets and wins of a period as CSV. By a cursor: with COPY, the driver's stream did not end once when the file was
 * written slowly.
 */
async function* linesOf(sql: Sql, from: string, to: string): AsyncGenerator<string, void> {
  yield 'transactionId,playerId,operation,amount,currency,roundId,gameCode,roundClosed,time\n';
  const rows = sql<{ line: string }[]>`
    select format('%s,%s,%s,%s,EUR,%s,%s,%s,%s\n', transaction_id, player_id, operation,
        to_char(abs(amount) / 100.0, 'FM0.00'), round_id, game_code, round_closed::text,
        to_char(at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')) as line
    from entries where at >= ${from}::timestamptz and at < ${to}::timestamptz and operation in ('debit', 'credit')`;
  for await (const some of rows.cursor(10_000)) yield some.map(({ line }) => line).join('');
}

/** Adds entries to the ledger and writes the statement that agrees with them, as CSV. */
const writeStatement = async ({ sql }: Wallet, folder: string, lines: number): Promise<Statement> => {
  const [before] = await sql<{ count: number }[]>`select count(*)::int as count from entries`;
  await fillLedger(sql, (before?.count ?? 0) + lines);
  const [period] = await sql<{ from: Date; to: Date }[]>`
    select clock_timestamp() - interval '2 hours' as from, clock_timestamp() as to`;
  if (period === undefined) throw new Error('PostgreSQL returned no time');
  const [from, to] = [period.from.toISOString(), period.to.toISOString()];
  const file = join(folder, 'statement.csv');
  await pipeline(linesOf(sql, from, to), createWriteStream(file));
  return { file, lines, from, to };
};

const maxSeconds = 300;

/**
 * Sends the statement and waits until it is compared; returns the seconds. Throws when a difference is found, or after
 * five minutes.
 */
const reconcile = async (
  { service: { url, keys } }: Wallet,
  { file, lines, from, to }: Statement,
): Promise<number> => {
  const headers = { Authorization: `Bearer ${await keys.token({ scope: 'wallet:admin wallet:read' })}` };
  const start = performance.now();
  const sent = await fetch(`${url}/v1/reconciliations?${new URLSearchParams({ from, to }).toString()}`, {
    method: 'POST',
    headers: { ...headers, 'Content-Type': 'text/csv' },
    body: Readable.toWeb(createReadStream(file)),
    duplex: 'half',
  });
  if (sent.status !== 201) throw new Error(await sent.text());
  for (;;) {
    const answer = await fetch(url + (sent.headers.get('location') ?? ''), { headers });
    const found = (await answer.json()) as { status: string; lines: number; differences: number };
    if (found.status === 'done' && found.lines >= lines * 0.99 && found.differences === 0)
      return (performance.now() - start) / 1000;
    if (found.status === 'done' || found.status === 'failed') throw new Error(JSON.stringify(found));
    if (performance.now() - start > maxSeconds * 1000) throw new Error(JSON.stringify(found));
    await sleep(250);
  }
};

export interface Reconciled {
  seconds: number;
  /** p99 of callbacks without and during a reconciliation, in ms. */
  alone: number;
  beside: number;
}

/** Compares a statement of `lines` lines while 1,000 callbacks a second arrive. */
export const reconcileBeside = async (
  wallet: Wallet,
  lines: number,
  times: number,
): Promise<Reconciled[]> => {
  const folder = await mkdtemp(join(tmpdir(), 'statement-'));
  const debit = () => debitFor(wallet, loadSeconds, players, connections, perSecond);
  try {
    const statement = await writeStatement(wallet, folder, lines);
    const runs: Reconciled[] = [];
    for (let run = 0; run < times; run++) {
      const alone = (await debit()).p99;
      const [seconds, { p99: beside }] = await Promise.all([reconcile(wallet, statement), debit()]);
      runs.push({ seconds, alone, beside });
    }
    return runs;
  } finally {
    await rm(folder, { recursive: true });
  }
};
