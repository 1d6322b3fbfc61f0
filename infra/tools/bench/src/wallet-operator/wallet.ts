import { generateKeyPairSync } from 'node:crypto';
import postgres, { type Sql } from 'postgres';
import { startBackingServices, startService, type BenchService } from '../service.ts';
import { load, type LoadRequest, type LoadResult } from '../load.ts';
import { debits, secret } from './debits.ts';
import { addPlayers } from './filling.ts';

/** The service with its own PostgreSQL and 200 players. */
export interface Wallet extends AsyncDisposable {
  service: BenchService;
  sql: Sql;
}

export const players = 200;
const connections = 64;
/** More than the service answers on any machine so far: each debit is prepared beforehand. */
const mostPerSecond = 20_000;

const sealingKey = (): string =>
  JSON.stringify(generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' }));

/** Sealing is on, as it is shipped. */
export const openWallet = async ({ sealing = true } = {}): Promise<Wallet> => {
  const stack = new AsyncDisposableStack();
  const backing = stack.use(await startBackingServices());
  const service = stack.use(
    await startService('wallet-operator', backing, {
      HMAC_SECRET: secret,
      SIGNATURE_TOLERANCE_S: '3600',
      ...(sealing && { SEALING_KEY: sealingKey() }),
    }),
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

/**
 * The last requests may have been sent but not answered, and wrk discards the first one (it calls `request` once before
 * it starts); a game server sends them again.
 */
const repeated = 2000;
const okText = '"status":"OK"';

const sendAgain = async (url: string, requests: readonly LoadRequest[]): Promise<boolean> => {
  const queue = requests.values();
  let accepted = true;
  const worker = async (): Promise<void> => {
    for (const { path, method = 'GET', headers = {}, body = '' } of queue) {
      const response = await fetch(url + path, { method, headers, body });
      accepted &&= (await response.text()).includes(okText);
    }
  };
  await Promise.all(Array.from({ length: connections }, worker));
  return accepted;
};

/**
 * Sends debits for `seconds` over `at` connections, as fast as they are answered or `perSecond`, and compares the ledger with the responses.
 * @throws unless every response was OK, and each debit is in the ledger once and has moved its cent
 */
export const debitFor = async (
  { service, sql }: Wallet,
  seconds: number,
  over = players,
  at = connections,
  perSecond?: number,
): Promise<LoadResult> => {
  const before = await booksOf(sql);
  const most = perSecond === undefined ? mostPerSecond : 2 * perSecond;
  const requests = debits(seconds * (at === 1 ? most / 10 : most), over);
  const pace = perSecond === undefined ? {} : { perSecond };
  const result = await load({
    url: service.url,
    requests,
    connections: at,
    seconds,
    acceptedText: okText,
    ...pace,
  });
  const { sent, answered, accepted, failed } = result;
  if (sent > requests.length) throw new Error(`only ${requests.length} debits were prepared, ${sent} sent`);
  const open = [...requests.slice(0, 1), ...requests.slice(Math.max(1, sent - repeated), sent)];
  const repeatedOk = await sendAgain(service.url, open);
  const after = await booksOf(sql);
  const sound =
    failed === 0 &&
    accepted === answered &&
    repeatedOk &&
    after.entries - before.entries === sent &&
    before.money - after.money === BigInt(sent);
  if (!sound)
    throw new Error(
      `${sent} debits sent, ${answered} answered, ${accepted} accepted, ${failed} failed; ` +
        `${after.entries - before.entries} entries, ${before.money - after.money} cents moved`,
    );
  return result;
};

/** Seconds that the proof of the whole ledger takes. Throws when the ledger is not sound. */
export const prove = async ({ service: { url, keys } }: Wallet): Promise<number> => {
  const token = await keys.token({ scope: 'wallet:admin' });
  const start = performance.now();
  const answer = await fetch(`${url}/v1/audit/proof`, { headers: { Authorization: `Bearer ${token}` } });
  const { ok } = (await answer.json()) as { ok: boolean };
  if (!ok) throw new Error('the proof of the ledger failed');
  return (performance.now() - start) / 1000;
};

/** Gives every player limits of each kind on bets, which the debits of a measurement don't reach. */
export const limitPlayers = async ({ service: { url, keys } }: Wallet): Promise<void> => {
  const headers = {
    Authorization: `Bearer ${await keys.token({ scope: 'wallet:admin' })}`,
    'Content-Type': 'application/json',
  };
  const enough = { '24h': '9999999.00', '7d': '9999999.00', month: '9999999.00' };
  const body = JSON.stringify({ setBy: 'player', wager: enough, loss: enough, sessionMinutes: 1440 });
  for (let player = 0; player < players; player++) {
    const answer = await fetch(`${url}/v1/players/player-${player}/limits`, { method: 'PUT', headers, body });
    if (!answer.ok) throw new Error(`the limits of player-${player} were refused: ${await answer.text()}`);
  }
};
