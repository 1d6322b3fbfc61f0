import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { ApiError, bearer, requestSignature, unwrap, walletOperator } from '@platform/client';
import type { Actor } from '../actor.ts';
import { callTimeout } from '../wait.ts';
import { createPlayer } from '../load.ts';
import { runGameServer, type Platform, type StackFile } from '../stack.ts';

/** A round as the simulated game server reports it. */
interface Round {
  playerId: string;
  roundId: string;
  steps: { callback: string; status: string }[];
  /** Minor units. */
  moved: number;
}

const ROUNDS = 3;
const DEPOSIT = '1000.00';

const minorUnits = (amount: string): number => Math.round(Number(amount) * 100);

/** Whether the outcome of every step is known: a rollback settles a debit that got no response. */
const isSettled = ({ steps }: Round): boolean =>
  steps.every(
    ({ callback, status }, n) =>
      !['no answer', 'ERROR_UNKNOWN'].includes(status) ||
      (callback === 'debit' && steps[n + 1]?.callback === 'rollback' && steps[n + 1]?.status === 'OK'),
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

  const rounds = (): Round[] =>
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

  const checkRound = async (round: Round): Promise<string[]> => {
    const sums = await Promise.all(players.map((playerId) => bookedSum(playerId, round.roundId)));
    const sum = sums.reduce((total, amount) => total + amount, 0);
    return sum === round.moved
      ? []
      : [
          `casino: round ${round.roundId} moved ${sum} instead of ${round.moved}: ${JSON.stringify(round.steps)}`,
        ];
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
      for (let before = -1; before !== rounds().length; await sleep(2_000)) before = rounds().length;
      const settled = rounds().filter(isSettled);
      const faults = settled.length > 0 ? [] : ['casino: no round could be played'];
      for (const round of settled) faults.push(...(await checkRound(round)));
      const proof = await unwrap(wallet.GET('/v1/audit/proof'));
      if (!proof.ok) faults.push(`casino: the ledger is inconsistent: ${JSON.stringify(proof.violations)}`);
      return faults;
    },
    [Symbol.asyncDispose]: () => game[Symbol.asyncDispose](),
  };
};
