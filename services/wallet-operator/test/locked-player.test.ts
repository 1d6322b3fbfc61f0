import { randomUUID } from 'node:crypto';
import { startProxy } from '@platform/service-kit/testing';
import { expect, test } from 'vitest';
import { addGame, addPlayer, callerOf } from './factories.ts';
import { startService } from './harness.ts';
import { holdPlayer } from './hold-player.ts';
import { expectSoundLedger } from './proof.ts';

const newDebit = () => ({ transactionId: randomUUID(), roundId: randomUUID() });

/** The service with a player whom a test locks, and others. */
const startWithPlayers = async (variables: Record<string, string> = { MAX_WAIT_MS: '6000' }) => {
  const service = await startService({ variables });
  const { sql } = service.context.database;
  await addGame(sql);
  const add = async () => callerOf(service, await addPlayer(sql));
  const locked = await add();
  const others = await Promise.all(Array.from({ length: 10 }, add));
  return { service, locked, others };
};

test("while another transaction holds one player's row, every callback of other players succeeds", async () => {
  const { service, locked, others } = await startWithPlayers();
  await using _ = service;
  const holder = await holdPlayer(service.databaseUrl, locked.playerId);

  const debits = Array.from({ length: 8 }, newDebit);
  const refused = Promise.all(debits.map((debit) => locked.debit(debit)));
  const play = async (other: typeof locked) => {
    const debit = newDebit();
    const reversal = { roundId: debit.roundId, reverseTransactionId: debit.transactionId };
    return [await other.debit(debit), await other.rollback(reversal), await locked.balance()];
  };
  const answers = await Promise.all(others.flatMap((other) => Array.from({ length: 8 }, () => play(other))));
  expect(answers.flat().filter(({ status }) => status !== 'OK')).toEqual([]);

  // The game server asks again after a 500.
  for (const answer of await refused) expect(answer).toMatchObject({ http: 500, status: 'ERROR_UNKNOWN' });
  await holder.release();
  for (const debit of debits) expect(await locked.debit(debit)).toMatchObject({ http: 200, status: 'OK' });
  expect((await locked.balance()).balance).toBe('920.00');
  await expectSoundLedger(service);
});

test('a batch meets a locked player once; later batches leave the player out', async () => {
  const { service: direct, locked: player, others } = await startWithPlayers();
  await using _ = direct;
  let lockTimeouts = 0;
  await using proxy = await startProxy(direct.databaseUrl, {
    isLost: (answer) => {
      if (answer.includes('55P03')) lockTimeouts += 1;
      return false;
    },
  });
  await using service = await startService({ variables: { DATABASE_URL: proxy.url, MAX_WAIT_MS: '6000' } });
  const locked = callerOf(service, player.playerId);
  const other = callerOf(service, others[0]?.playerId ?? '');
  const holder = await holdPlayer(direct.databaseUrl, locked.playerId);
  const refused = [locked.debit()];
  await expect.poll(service.context.ledger.lockedPlayers).toBe(1);
  for (let turn = 0; turn < 10; turn += 1) {
    refused.push(locked.debit(), locked.rollback());
    expect((await other.debit()).status).toBe('OK');
    expect((await other.rollback()).status).toBe('OK');
  }
  for (const answer of await Promise.all(refused)) expect(answer.http).toBe(500);
  expect(lockTimeouts).toBe(1);
  await holder.release();
  await expect.poll(service.context.ledger.lockedPlayers).toBe(0);
});

test('callbacks of a locked player are applied once when the row is released soon enough', async () => {
  const { service, locked } = await startWithPlayers({ MAX_WAIT_MS: '60000' });
  await using _ = service;
  const holder = await holdPlayer(service.databaseUrl, locked.playerId);
  const sent = [...Array.from({ length: 20 }, () => locked.debit()), locked.rollback()];
  await expect.poll(service.context.ledger.waiting).toBe(sent.length);
  await holder.release();
  for (const answer of await Promise.all(sent)) expect(answer).toMatchObject({ http: 200, status: 'OK' });
  expect((await locked.balance()).balance).toBe('800.00');
  await expectSoundLedger(service);
});

test('callbacks that overload refuses write no error, and their lines say why', async () => {
  const { service, others } = await startWithPlayers({ MAX_WAITING: '1', BATCHES_IN_FLIGHT: '1' });
  await using _ = service;
  const answers = await Promise.all(
    Array.from({ length: 8 }, () => others.map((other) => other.debit(newDebit()))).flat(),
  );
  expect(answers.filter(({ http }) => http === 500).length).toBeGreaterThan(0);
  const lines = () => service.lines.filter((line) => line.includes('"status":500'));
  await expect.poll(() => lines().length).toBeGreaterThan(0);
  for (const line of lines())
    expect(JSON.parse(line)).toMatchObject({ level: 'info', code: 'too_busy', msg: 'refused' });
  expect(service.lines.join('')).not.toContain('"level":"error"');
});
