import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { addGame, addPlayer, callerOf } from './factories.ts';
import { startService } from './harness.ts';
import { expectSoundLedger } from './proof.ts';

/** A proxy between the service and PostgreSQL. Once `cut`, it hangs up instead of forwarding the answer to a commit. */
const startProxy = async (databaseUrl: string, commitTag: string) => {
  const target = new URL(databaseUrl);
  let cutting = false;
  const open = new Set<Socket>();
  const server = createServer((near) => {
    const far = connect(Number(target.port), target.hostname);
    const hangUp = (): void => {
      near.destroy();
      far.destroy();
    };
    for (const socket of [near, far]) {
      open.add(socket);
      socket.on('error', hangUp).on('close', hangUp);
    }
    near.on('data', (data) => far.write(data));
    far.on('data', (data) => {
      // This answer is sent after the commit: the batch is in the ledger, but the service does not know.
      if (cutting && data.includes(commitTag)) hangUp();
      else near.write(data);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    for (const socket of open) socket.destroy();
    server.close();
  });
  const url = new URL(databaseUrl);
  url.port = String((server.address() as AddressInfo).port);
  return { url: url.href, cut: (on: boolean) => void (cutting = on) };
};

/** A debit and a credit are one statement, a rollback is decided in a transaction. */
test.each([
  ['debit', 'SELECT 1'],
  ['credit', 'SELECT 1'],
  ['rollback', 'COMMIT'],
] as const)(
  'an answer lost between the commit of a %s and the service: 500, and the repeat has the stored answer',
  async (callback, commitTag) => {
    await using direct = await startService();
    const { sql } = direct.context.database;
    const playerId = await addPlayer(sql);
    await addGame(sql);
    const proxy = await startProxy(direct.databaseUrl, commitTag);
    await using service = await startService({ DATABASE_URL: proxy.url });
    const caller = callerOf(service, playerId);
    expect((await caller.balance()).status).toBe('OK');

    const fields = {
      transactionId: randomUUID(),
      roundId: randomUUID(),
      reverseTransactionId: randomUUID(),
    };
    proxy.cut(true);
    expect(await caller[callback](fields)).toMatchObject({ http: 500, status: 'ERROR_UNKNOWN' });
    proxy.cut(false);
    const [row] = await sql<{ balance: string }[]>`
      select balance_after as balance from entries where transaction_id = ${fields.transactionId}`;
    expect(row).toBeDefined();

    const again = await caller[callback](fields);
    expect(again).toMatchObject({ http: 200, status: 'OK' });
    expect(again.balance?.replace('.', '')).toBe(row?.balance);
    const [count] = await sql`
      select count(*)::int as count from entries where transaction_id = ${fields.transactionId}`;
    expect(count).toEqual({ count: 1 });
    await expectSoundLedger({ sql });
  },
);
