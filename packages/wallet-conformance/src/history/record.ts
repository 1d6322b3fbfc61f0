import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { openWallet, type Target } from '../certify/wallet.ts';
import { createRandom } from '../random.ts';
import type { CallRequest, Call } from './call.ts';
import { addHistory, createEarlierState, readEarlierStates, type EarlierState } from './earlier-state.ts';
import { judge, type Verdict } from './judge.ts';
import { ok, type Declared } from './model.ts';
import { planHistory } from './plan.ts';
import { createSender, type Callbacks, type SenderOptions } from './sender.ts';

export interface RecordOptions extends SenderOptions {
  walletOf(player: string): Callbacks;
  /** Players with 1.00 or more each, used by nothing else meanwhile. Their histories run at the same time. */
  players: readonly string[];
  seconds: number;
  random: () => number;
  newId(): string;
  /** Calls of the recording to continue, whose transactions are used again. */
  resumed?: readonly Call[];
  /** Called for every completed call, in no particular order. */
  onCall(call: Call): void;
}

type Send = ReturnType<typeof createSender>;

const read: CallRequest = { operation: 'balance' };

/**
 * Rolls back debits that were refused after an unanswered attempt: that attempt may still arrive later, when the balance
 * is sufficient. Resolves with false when a rollback got no answer.
 */
const rollBackUnclearDebits = async (
  calls: readonly Call[],
  send: Send,
  newId: () => string,
): Promise<boolean> => {
  const unanswered = new Set(
    calls.flatMap(({ status, transaction }) => (status === null ? [transaction] : [])),
  );
  const refused = calls.filter(
    ({ operation, status, transaction }) =>
      operation === 'debit' && status !== null && status !== ok && unanswered.has(transaction),
  );
  const debits = new Map(refused.map((call) => [call.transaction, call]));
  const outcomes = await Promise.all(
    [...debits.values()].map(({ transaction: reverses = '', round = '' }) =>
      send({ operation: 'rollback', transaction: newId(), reverses, round, closes: false }),
    ),
  );
  return outcomes.every(({ status }) => status !== null);
};

/** Records one history. Resolves with false when its outcome is unknown; the player must not be used any more. */
const recordHistory = async (
  player: string,
  history: number,
  earlier: EarlierState,
  options: RecordOptions,
): Promise<boolean> => {
  const { walletOf, clock, random, newId, onCall } = options;
  const calls: Call[] = [];
  const send = createSender(walletOf(player), options, (fields) => {
    const call = { player, history, ...fields };
    calls.push(call);
    onCall(call);
  });
  const first = await send(read);
  if (first.status !== ok || first.balance === null) return false;
  const { opening, concurrent } = planHistory(first.balance, earlier, random, newId);
  for (const request of opening) if ((await send(request)).status === null) return false;
  const outcomes = await Promise.all(
    concurrent.map(async ({ at, ...request }) => {
      await clock.sleep(at);
      return send(request);
    }),
  );
  if (outcomes.some(({ status }) => status === null) || !(await rollBackUnclearDebits(calls, send, newId)))
    return false;
  if ((await send(read)).status !== ok) return false;
  return addHistory(earlier, calls).length === 0;
};

/**
 * Sends histories of concurrent callbacks for `seconds`, like a game server that retries unanswered callbacks, and records
 * every call. Stops using a player when one of the player's calls is never answered clearly.
 * @throws when `players` is empty, or when the outcome of a history in `resumed` is unknown
 */
export const record = async (options: RecordOptions): Promise<void> => {
  const { players, seconds, clock, resumed = [] } = options;
  if (players.length === 0) throw new Error('a history needs at least one player');
  const states = readEarlierStates(resumed);
  const end = clock.now() + seconds * 1000;
  await Promise.all(
    players.map(async (player) => {
      const { earlier, history: first } = states.get(player) ?? { earlier: createEarlierState(), history: 0 };
      for (let history = first; clock.now() < end; history++)
        if (!(await recordHistory(player, history, earlier, options))) return;
    }),
  );
};

export interface HistoryOptions
  extends Pick<RecordOptions, 'players' | 'seconds' | 'resumed'>, Partial<Pick<RecordOptions, 'patience'>> {
  target: Omit<Target, 'player'>;
  declared?: Declared;
  seed: number;
  /** The file for the calls, one JSON object per line, `resumed` first. An existing file is replaced. */
  file: string;
}

const clock = { now: () => performance.now(), sleep: (ms: number) => sleep(ms) };

/** Records histories with a backend, writes them to a file and judges them. */
export const recordAndJudge = async (options: HistoryOptions): Promise<Verdict> => {
  const { seed, file, target, declared, resumed = [] } = options;
  const calls: Call[] = [];
  const out = createWriteStream(file);
  await once(out, 'open');
  const onCall = (call: Call): void => {
    calls.push(call);
    out.write(`${JSON.stringify(call)}\n`);
  };
  for (const call of resumed) onCall(call);
  await record({
    patience: 60,
    ...options,
    walletOf: (player) => openWallet({ ...target, player }),
    random: createRandom(seed),
    clock,
    newId: randomUUID,
    onCall,
  });
  out.end();
  await once(out, 'close');
  return judge(calls, declared);
};
