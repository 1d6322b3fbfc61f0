import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { addGame, addPlayer, callerOf } from './factories.ts';
import { startService } from './harness.ts';
import { expectSoundLedger } from './proof.ts';

/** Stands between the service and PostgreSQL, and hangs up instead of handing on an answer once it is told to. */
const standBetween = async (databaseUrl: string) => {
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
      // The answer to a batch comes after its commit: from here on it is in the ledger, and nobody knows.
      if (cutting && data.includes('OK')) hangUp();
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

test.each(['debit', 'credit', 'rollback'] as const)(
  'an answer lost between the commit of a %s and the service: 500, and the repeat has the stored answer',
  async (callback) => {
    await using direct = await startService();
    const { sql } = direct.context.database;
    const playerId = await addPlayer(sql);
    await addGame(sql);
    const between = await standBetween(direct.databaseUrl);
    await using service = await startService({ DATABASE_URL: between.url });
    const caller = callerOf(service, playerId);
    expect((await caller.balance()).status).toBe('OK');

    const fields = {
      transactionId: randomUUID(),
      roundId: randomUUID(),
      reverseTransactionId: randomUUID(),
    };
    between.cut(true);
    expect(await caller[callback](fields)).toMatchObject({ http: 500, status: 'ERROR_UNKNOWN' });
    between.cut(false);
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
