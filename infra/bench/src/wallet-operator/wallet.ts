import postgres, { type Sql } from 'postgres';
import { startGround, startService, type BenchService } from '../service.ts';
import { fire } from '../fire.ts';
import { debits, secret } from './debits.ts';
import { addPlayers } from './filling.ts';
import { strike, type Struck } from './strike.ts';

/** A PostgreSQL of its own, the service on it, and 200 players in its ledger. */
export interface Wallet extends AsyncDisposable {
  service: BenchService;
  sql: Sql;
}

export const players = 200;
const connections = 64;
/** More than any machine here answers. */
const mostPerSecond = 20_000;

export const openWallet = async (): Promise<Wallet> => {
  const stack = new AsyncDisposableStack();
  const ground = stack.use(await startGround());
  const service = stack.use(
    await startService('wallet-operator', ground, { HMAC_SECRET: secret, SIGNATURE_TOLERANCE_S: '3600' }),
  );
  const sql = postgres(service.databaseUrl, { max: 1, onnotice: () => undefined });
  stack.defer(() => sql.end());
  await addPlayers(sql);
  return { service, sql, [Symbol.asyncDispose]: () => stack.disposeAsync() };
};

interface Books {
  entries: number;
  money: bigint;
}

const booksOf = async (sql: Sql): Promise<Books> => {
  const [row] = await sql<{ entries: number; money: string }[]>`
    select (select count(*) from entries)::float8 as entries, (select sum(balance) from players) as money`;
  return { entries: row?.entries ?? 0, money: BigInt(row?.money ?? 0) };
};

/** Those that were under way when time was up are among the last; a game server would ask again. wrk keeps the first. */
const askAgain = 2000;

/**
 * Debits for so many seconds, and the books afterwards.
 * @throws unless every answer was OK and each debit is in the ledger once and has moved its cent
 */
export const debitFor = async (
  { service, sql }: Wallet,
  seconds: number,
  over = players,
  at = connections,
): Promise<Struck> => {
  const before = await booksOf(sql);
  const requests = debits(seconds * (at === 1 ? mostPerSecond / 10 : mostPerSecond), over);
  const struck = await strike(service.url, requests, at, seconds);
  const { sent, answered, accepted } = struck;
  const open = [...requests.slice(0, 1), ...requests.slice(Math.max(1, sent - askAgain), sent)];
  const again = await fire(service.url, open, connections);
  const after = await booksOf(sql);
  const sound =
    accepted === answered &&
    again.answers.every((text) => text.includes('"status":"OK"')) &&
    after.entries - before.entries === sent &&
    before.money - after.money === BigInt(sent);
  if (!sound)
    throw new Error(
      `${sent} debits sent, ${answered} answered, ${accepted} accepted; ` +
        `${after.entries - before.entries} entries, ${before.money - after.money} cents gone`,
    );
  return struck;
};

/** Has the whole ledger proven; in s. Throws when it is not sound. */
export const prove = async ({ service: { url, keys } }: Wallet): Promise<number> => {
  const token = await keys.token({ scope: 'wallet:admin' });
  const start = performance.now();
  const answer = await fetch(`${url}/v1/audit/proof`, { headers: { Authorization: `Bearer ${token}` } });
  const { ok } = (await answer.json()) as { ok: boolean };
  if (!ok) throw new Error('the ledger does not prove itself');
  return (performance.now() - start) / 1000;
};
