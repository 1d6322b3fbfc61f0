import { randomUUID } from 'node:crypto';
import type { Sql } from 'postgres';
import { expect } from 'vitest';
import { call, type Answer, type Running } from './harness.ts';

interface PlayerOptions {
  currency?: string;
  balance?: number | bigint;
  status?: 'active' | 'disabled';
  excluded?: boolean;
  excludedUntil?: string | null;
}

/** A player whose balance, in minor units, is an entry of the ledger like any other. */
export const addPlayer = async (
  sql: Sql,
  {
    currency = 'EUR',
    balance = 100_000,
    status = 'active',
    excluded = false,
    excludedUntil = null,
  }: PlayerOptions = {},
  playerId: string = randomUUID(),
): Promise<string> => {
  const funded = BigInt(balance) > 0n;
  const end = excluded ? sql`coalesce(${excludedUntil}::date + 1, 'infinity')` : sql`null`;
  await sql`insert into players (player_id, currency, balance, seq, status, excluded_until, created_at)
    values (${playerId}, ${currency}, ${String(balance)}, ${funded ? 1 : 0}, ${status}, ${end}, '2026-01-02T03:04:05Z')`;
  if (funded) {
    await sql`insert into entries (player_id, seq, operation, transaction_id, amount, balance_after, at, id_space)
      values (${playerId}, 1, 'deposit', ${randomUUID()}, ${String(balance)}, ${String(balance)}, now(), 'operator')`;
  }
  return playerId;
};

export const addGame = async (sql: Sql, gameCode = 'dice-alpha', enabled = true): Promise<string> => {
  await sql`insert into games values (${gameCode}, ${gameCode}, ${enabled}, now()) on conflict do nothing`;
  return gameCode;
};

export interface Fields {
  transactionId?: unknown;
  roundId?: unknown;
  gameCode?: unknown;
  gameId?: unknown;
  amount?: unknown;
  roundClosed?: unknown;
  reverseTransactionId?: unknown;
  [more: string]: unknown;
}

/** The five callbacks of one player. Each request is valid, except for the fields that are given. */
export const callerOf = ({ url }: Pick<Running, 'url'>, playerId: string) => {
  const common = () => ({ requestId: randomUUID(), playerId });
  const send = async (callback: string, fields: Fields): Promise<Answer> => {
    const body = { ...common(), ...fields };
    const answer = await call(url, callback, body);
    expect(answer.requestId).toBe(body.requestId);
    return answer;
  };
  const ids = () => ({ transactionId: randomUUID(), roundId: randomUUID() });
  return {
    playerId,
    authenticate: (fields: Fields = {}) =>
      send('authenticate', { currency: 'EUR', gameCode: 'dice-alpha', ...fields }),
    debit: (fields: Fields = {}) =>
      send('debit', { ...ids(), gameCode: 'dice-alpha', amount: '10.00', ...fields }),
    credit: (fields: Fields = {}) =>
      send('credit', { ...ids(), gameId: 'dice-alpha', amount: '5.00', roundClosed: true, ...fields }),
    balance: (fields: Fields = {}) => send('balance', fields),
    rollback: (fields: Fields = {}) =>
      send('rollback', {
        ...ids(),
        reverseTransactionId: randomUUID(),
        gameId: 'dice-alpha',
        roundClosed: false,
        ...fields,
      }),
  };
};
