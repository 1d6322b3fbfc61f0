import { randomUUID } from 'node:crypto';
import { createRequestSignatures } from '@platform/wallet-protocol/signing';
import type { Sql } from 'postgres';
import { load, type LoadRequest, type LoadResult } from '../load.ts';
import { startService, type BenchService } from '../service.ts';
import { signingKey } from './task-manager.ts';

/** The secret that the requests are signed with. */
export const secret = 'a secret for benchmarks';
export const players = 200;

/** Starts wallet-operator with a game and 200 players, each with a large deposit. Entries are sealed, as in production. */
export const startWallet = async (): Promise<BenchService> => {
  const service = await startService('wallet-operator', {
    HMAC_SECRET: secret,
    SIGNATURE_TOLERANCE_S: '3600',
    SEALING_KEY: signingKey(),
  });
  const { sql } = service;
  await sql`insert into games values ('dice-alpha', 'Dice', true, now())`;
  await sql`insert into players (player_id, currency, balance, seq, created_at)
    select 'player-' || n, 'EUR', 100000000000, 1, now() from generate_series(0, ${players - 1}) n`;
  await sql`insert into entries (player_id, seq, operation, transaction_id, amount, balance_after, at, id_space)
    select 'player-' || n, 1, 'deposit', 'start-' || n, 100000000000, 100000000000, now(), 'operator'
    from generate_series(0, ${players - 1}) n`;
  return service;
};

const signatures = createRequestSignatures({ secrets: { current: secret } });

/** Signed debits of 0.01, each with a new transaction and round, spread over the first `playerCount` players. */
export const debits = (count: number, playerCount = players): LoadRequest[] =>
  Array.from({ length: count }, (_, index) => {
    const path = '/callback/debit';
    const body = JSON.stringify({
      requestId: randomUUID(),
      playerId: `player-${index % playerCount}`,
      transactionId: randomUUID(),
      roundId: randomUUID(),
      gameCode: 'dice-alpha',
      amount: '0.01',
      metadata: '{"channel":"web"}',
    });
    const headers = { 'Content-Type': 'application/json', ...signatures.headers(path, body) };
    return { method: 'POST', path, headers, body };
  });

interface LedgerTotals {
  entries: number;
  /** Sum of all balances. */
  cents: number;
}

const ledgerTotals = async (sql: Sql): Promise<LedgerTotals> => {
  const [row] = await sql<LedgerTotals[]>`
    select (select count(*) from entries)::float8 as entries, (select sum(balance) from players)::float8 as cents`;
  return row ?? { entries: Number.NaN, cents: Number.NaN };
};

/** Debits that are signed beforehand, for each second: more than any machine has answered so far. */
const maxPerSecond = 20_000;

/**
 * Sends debits for `seconds` to the service, or to one with the same tables `entries` and `players`.
 * @throws unless every response was OK and each entry in the ledger is one cent; the last debits may be unanswered
 */
export const sendDebits = async (
  { url, sql }: { url: string; sql: Sql },
  { seconds, playerCount = players }: { seconds: number; playerCount?: number },
): Promise<LoadResult> => {
  const before = await ledgerTotals(sql);
  const requests = debits(seconds * maxPerSecond, playerCount);
  const result = await load({ url, requests, connections: 64, seconds, acceptedText: '"status":"OK"' });
  const { sent, answered, accepted, failed } = result;
  if (sent > requests.length) throw new Error(`only ${requests.length} debits were prepared, ${sent} sent`);
  const after = await ledgerTotals(sql);
  const [entries, cents] = [after.entries - before.entries, before.cents - after.cents];
  if (failed > 0 || accepted < answered || entries < answered || cents !== entries)
    throw new Error(
      `${answered} answered, ${accepted} accepted, ${failed} failed; ${entries} entries, ${cents} cents moved`,
    );
  return result;
};
