import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { addGame, addPlayer, callerOf } from './factories.ts';
import { startService, type Running } from './harness.ts';
import { person } from './people.ts';
import { expectSoundLedger } from './proof.ts';

let service: Running;
beforeAll(async () => {
  service = await startService();
  await addGame(service.context.database.sql);
});
afterAll(async () => {
  await expectSoundLedger(service);
  await service[Symbol.asyncDispose]();
});

/** SQLSTATEs that mean "not now", one of each class; PostgreSQL raises them here when a row is written. */
test.each(['08006', '53300', '53100', '57P01', '57P03', '55000', '55P03', '40001'])(
  'SQLSTATE %s: a deposit is 503, a callback 500 ERROR_UNKNOWN, and both succeed when they are sent again',
  async (code) => {
    const { sql } = service.context.database;
    const playerId = await addPlayer(sql);
    const caller = callerOf(service, playerId);
    const admin = await person(service);
    const transfer = { transactionId: randomUUID(), amount: '1.00' };
    const deposit = () => admin.post(`/v1/players/${playerId}/deposits`, transfer);
    const debit = { transactionId: randomUUID(), roundId: randomUUID() };
    await sql.unsafe(`create function fail() returns trigger language plpgsql as
      $$ begin raise exception 'not now' using errcode = '${code}'; end $$;
      create trigger fail before insert on entries for each row execute function fail()`);
    const [deposited, debited] = [await deposit(), await caller.debit(debit)];
    await sql`drop function fail() cascade`;
    expect(deposited).toMatchObject({ status: 503, type: 'application/problem+json' });
    expect(debited).toMatchObject({ http: 500, status: 'ERROR_UNKNOWN' });
    expect(await deposit()).toMatchObject({ status: 201, body: { balance: '1001.00' } });
    expect(await caller.debit(debit)).toMatchObject({ http: 200, status: 'OK', balance: '991.00' });
  },
);
