import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { addGame, addPlayer, callerOf } from './factories.ts';
import { startService } from './harness.ts';
import { person } from './people.ts';
import { startProcess } from './process.ts';
import { expectSoundLedger } from './proof.ts';

test('64 debits at once in two processes never exceed a limit by a cent, nor leave room that would suffice', async () => {
  await using service = await startService();
  const { sql } = service.context.database;
  await addGame(sql);
  await using one = await startProcess(service.databaseUrl);
  await using other = await startProcess(service.databaseUrl);
  const admin = await person(service);
  for (const limits of [{ wager: { '24h': '1.00' } }, { loss: { '7d': '1.00' } }]) {
    const playerId = await addPlayer(sql);
    await admin.put(`/v1/players/${playerId}/limits`, { setBy: 'player', ...limits });
    // After this one, the statement of ordinary moves may accept debits, too.
    expect((await callerOf(one, playerId).debit({ amount: '0.01' })).status).toBe('OK');
    const [first, second] = [callerOf(one, playerId), callerOf(other, playerId)];
    const answers = await Promise.all(
      Array.from({ length: 64 }, (_, at) => (at % 2 ? second : first).debit({ amount: '0.07' })),
    );
    const statuses = Object.groupBy(answers, ({ status }) => status);
    // 0.01 + 14 × 0.07 = 0.99
    expect(statuses['OK']).toHaveLength(14);
    expect(statuses['ERROR_NOT_ENOUGH_MONEY']).toHaveLength(50);
    const transactionId = randomUUID();
    expect((await first.debit({ amount: '0.02', transactionId })).status).toBe('ERROR_NOT_ENOUGH_MONEY');
    // A refused attempt does not use up its id.
    expect((await second.debit({ amount: '0.01', transactionId })).status).toBe('OK');
  }
  await expectSoundLedger(service);
});

test('debits and a lower limit at once: after its answer no debit exceeds it', async () => {
  await using service = await startService();
  const { sql } = service.context.database;
  await addGame(sql);
  await using other = await startProcess(service.databaseUrl);
  const admin = await person(service);
  const playerId = await addPlayer(sql);
  const [first, second] = [callerOf(service, playerId), callerOf(other, playerId)];
  const path = `/v1/players/${playerId}/limits`;
  await admin.put(path, { setBy: 'player', wager: { month: '900.00' } });
  let isLowered = false;
  const late: string[] = [];
  const play = async (at: number): Promise<void> => {
    for (let rest = 3; rest > 0;) {
      const startedAfter = isLowered;
      const { status } = await (at % 2 ? second : first).debit({ amount: '1.00' });
      if (!startedAfter) continue;
      rest -= 1;
      late.push(status);
    }
  };
  const playing = Promise.all(Array.from({ length: 16 }, (_, at) => play(at)));
  const balance = async () => (await first.balance()).balance;
  await expect.poll(balance).not.toBe('1000.00');
  await admin.put(path, { setBy: 'player', wager: { month: '1.00' } });
  isLowered = true;
  await playing;
  expect(late).toEqual(Array(48).fill('ERROR_NOT_ENOUGH_MONEY'));
  await expectSoundLedger(service);
});
