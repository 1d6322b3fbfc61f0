import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { ApiError, bearer, requestSignature, unwrap, walletOperator } from '@platform/client';
import type { Actor } from '../actor.ts';
import { callTimeout } from '../wait.ts';
import { createPlayer } from '../load.ts';
import { runGameServer, type Platform, type StackFile } from '../stack.ts';

interface Step {
  callback: string;
  status: string;
}

/** A round as the simulated game server prints it. */
interface Round {
  roundId: string;
  steps: Step[];
  /** Change of the balance, in minor units. */
  moved: number;
}

const ROUNDS = 3;
const DEPOSIT = '1000.00';

const minorUnits = (amount: string): number => Math.round(Number(amount) * 100);

/** A rollback settles the debit before it, even if the debit got no response. */
const isRolledBack = ({ callback }: Step, next: Step | undefined): boolean =>
  callback === 'debit' && next?.callback === 'rollback' && next.status === 'OK';

/** Whether the outcome of every step is known. */
const isSettled = ({ steps }: Round): boolean =>
  steps.every(
    (step, index) =>
      !['no answer', 'ERROR_UNKNOWN'].includes(step.status) || isRolledBack(step, steps[index + 1]),
  );

/** Launches players with deposits; the simulated game server plays their rounds. */
export const casino = (
  gameServer: Platform['gameServer'],
  gateway: string,
  demo: StackFile['demo'],
): Actor & AsyncDisposable => {
  const { hmacSecret, gameCode } = demo.wallet;
  const game = runGameServer(gameServer, gateway, hmacSecret, ROUNDS);
  const wallet = walletOperator(gateway, callTimeout, bearer(demo.adminToken));
  const callbacks = walletOperator(gateway, callTimeout, requestSignature(hmacSecret));
  const players: string[] = [];
  let launches = 0;

  const playedRounds = (): Round[] =>
    game
      .printed()
      .split('\n')
      .filter((line) => line.includes('"roundId"'))
      .map((line) => JSON.parse(line) as Round);

  const bookedSum = async (playerId: string, roundId: string): Promise<number> => {
    const params = { path: { playerId, roundId } };
    const round = await unwrap(wallet.GET('/v1/players/{playerId}/rounds/{roundId}', { params })).catch(
      (error: unknown) => {
        if (error instanceof ApiError && error.status === 404) return { entries: [] };
        throw error;
      },
    );
    return round.entries.reduce((sum, { amount }) => sum + minorUnits(amount), 0);
  };

  const checkRound = async ({ roundId, moved, steps }: Round): Promise<string[]> => {
    const sums = await Promise.all(players.map((playerId) => bookedSum(playerId, roundId)));
    const sum = sums.reduce((total, amount) => total + amount, 0);
    if (sum === moved) return [];
    return [`casino: round ${roundId} moved ${sum} instead of ${moved}: ${JSON.stringify(steps)}`];
  };

  return {
    name: 'casino',
    pace: 400,
    step: async () => {
      if (players.length < 3) players.push(await createPlayer(wallet, DEPOSIT));
      const playerId = players[launches++ % players.length] ?? '';
      const body = { requestId: randomUUID(), playerId };
      const { status } = await unwrap(callbacks.POST('/callback/balance', { body }));
      if (status !== 'OK') throw new Error(`balance: ${status}`);
      await unwrap(wallet.POST('/v1/launches', { body: { playerId, gameCode } }));
    },
    verify: async () => {
      // The game server finishes the rounds of players who were launched last.
      let count: number;
      do {
        count = playedRounds().length;
        await sleep(2_000);
      } while (playedRounds().length > count);
      const settled = playedRounds().filter(isSettled);
      const faults = settled.length > 0 ? [] : ['casino: no round could be played'];
      for (const round of settled) faults.push(...(await checkRound(round)));
      const proof = await unwrap(wallet.GET('/v1/audit/proof'));
      if (!proof.ok) faults.push(`casino: the ledger is inconsistent: ${JSON.stringify(proof.violations)}`);
      return faults;
    },
    [Symbol.asyncDispose]: () => game[Symbol.asyncDispose](),
  };
};
