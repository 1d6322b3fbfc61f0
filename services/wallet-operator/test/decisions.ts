import { afterAll, afterEach, beforeAll } from 'vitest';
import { addGame, addPlayer, callerOf } from './factories.ts';
import { startService, type Running } from './harness.ts';
import { expectSoundLedger } from './proof.ts';

export const ok = (balance: string) => ({ http: 200, status: 'OK', balance });

/** Starts one service for all tests of a file, with the games `dice-alpha` and `closed-game`, and proves its ledger after each test. */
export const startForDecisions = () => {
  let service: Running;
  beforeAll(async () => {
    service = await startService();
    await addGame(service.context.database.sql);
    await addGame(service.context.database.sql, 'closed-game', false);
  });
  afterEach(() => expectSoundLedger(service));
  afterAll(() => service[Symbol.asyncDispose]());
  const sql = () => service.context.database.sql;
  return {
    service: () => service,
    sql,
    player: async (options: Parameters<typeof addPlayer>[1] = {}) =>
      callerOf(service, await addPlayer(sql(), options)),
    entriesOf: (playerId: string) => sql()<{ operation: string; amount: string; transactionId: string }[]>`
      select operation, amount, transaction_id as "transactionId" from entries where player_id = ${playerId} order by seq`,
  };
};
