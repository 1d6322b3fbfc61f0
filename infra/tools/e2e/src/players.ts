import { randomUUID } from 'node:crypto';
import { unwrap, type walletOperator } from '@platform/client';
import { persist, persistOnce } from './persist.ts';

/** Creates a player of their own with money, and resolves with their id. */
export const createPlayer = async (
  wallet: ReturnType<typeof walletOperator>,
  amount: string,
): Promise<string> => {
  const playerId = `e2e-${randomUUID()}`;
  const player = { playerId, currency: 'EUR', countryCode: 'DE' };
  await persistOnce(() => unwrap(wallet.POST('/v1/players', { body: player })));
  const params = { path: { playerId } };
  const deposit = { transactionId: `${playerId}-deposit`, amount };
  await persist(() => unwrap(wallet.POST('/v1/players/{playerId}/deposits', { params, body: deposit })));
  return playerId;
};
