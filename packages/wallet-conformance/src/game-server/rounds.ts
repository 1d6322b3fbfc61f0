import { randomUUID } from 'node:crypto';
import { decimal } from '@platform/wallet-protocol/money';
import type { Caller } from './caller.ts';

export interface PlayedRound {
  roundId: string;
  /** The callbacks in the order in which they were sent. */
  steps: { callback: string; status: string }[];
  /** Expected change of the balance, in minor units. */
  moved: number;
}

const statusText = (status: unknown): string => (typeof status === 'string' ? status : 'no answer');

/**
 * Plays one round like a game server: one to three bets, then a payout or "0". A bet whose outcome is unclear is rolled
 * back, with roundClosed when the round has no other bet.
 */
export const playRound = async (
  { call }: Caller,
  {
    playerId,
    gameCode,
    sessionToken,
    random = Math.random,
  }: {
    playerId: string;
    gameCode: string;
    /** The session of the operator's launch, which bets repeat. */
    sessionToken?: string | undefined;
    random?: (() => number) | undefined;
  },
): Promise<PlayedRound> => {
  const roundId = randomUUID();
  const round: PlayedRound = { roundId, steps: [], moved: 0 };
  const step = async (callback: string, fields: object): Promise<string> => {
    const status = statusText((await call(callback, { playerId, roundId, ...fields })).status);
    round.steps.push({ callback, status });
    return status;
  };
  let bets = 0;
  for (let left = 1 + Math.floor(random() * 3); left > 0; left--) {
    const transactionId = randomUUID();
    const bet = 1 + Math.floor(random() * 500);
    const amount = decimal(bet);
    const status = await step('debit', { transactionId, gameCode, amount, sessionToken, metadata: '{}' });
    if (status === 'OK') {
      bets += 1;
      round.moved -= bet;
      continue;
    }
    if (status === 'no answer' || status === 'ERROR_UNKNOWN') {
      await step('rollback', {
        transactionId: randomUUID(),
        reverseTransactionId: transactionId,
        gameId: gameCode,
        roundClosed: bets === 0,
      });
    }
    break;
  }
  if (bets === 0) return round;
  const win = random() < 0.4 ? Math.floor(random() * 1000) : 0;
  const amount = win === 0 ? '0' : decimal(win);
  const status = await step('credit', {
    transactionId: randomUUID(),
    gameId: gameCode,
    amount,
    roundClosed: true,
  });
  if (status === 'OK') round.moved += win;
  return round;
};
