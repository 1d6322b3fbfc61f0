import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { openWallet, type Target } from '../certify/wallet.ts';
import { createRandom } from '../random.ts';
import type { Asked, Call } from './call.ts';
import { addHistory, createEarlier, readEarlier, type Earlier } from './earlier.ts';
import { judge, type Verdict } from './judge.ts';
import { ok, type Declared } from './model.ts';
import { planHistory } from './plan.ts';
import { createSender, type Callbacks, type Clock } from './sender.ts';

export interface RecordOptions {
  walletOf(player: string): Callbacks;
  /** Players with 1.00 or more each, whom nobody else uses meanwhile. Their histories run at the same time. */
  players: readonly string[];
  seconds: number;
  /** Seconds for which a call without a clear answer is repeated. */
  patience: number;
  random: () => number;
  clock: Clock;
  newId(): string;
  /** What an earlier recording says about a player, and the number of the first history of this one. */
  resume?(player: string): { earlier: Earlier; history: number } | undefined;
  /** Called for every call when it is over, in no particular order. */
  onCall(call: Call): void;
}

type Send = ReturnType<typeof createSender>;

const read: Asked = { operation: 'balance' };

/**
 * Rolls debits back that were refused after an attempt without an answer: that attempt may still arrive, when there is
 * money for it. Resolves with false when that got no answer.
 */
const settle = async (calls: readonly Call[], send: Send, newId: () => string): Promise<boolean> => {
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

/** Records one history. Resolves with false when its outcome stays open, so that the player cannot be used any more. */
const recordHistory = async (
  player: string,
  history: number,
  earlier: Earlier,
  options: RecordOptions,
): Promise<boolean> => {
  const { walletOf, clock, patience, random, newId, onCall } = options;
  const calls: Call[] = [];
  const send = createSender({
    wallet: walletOf(player),
    clock,
    patience: patience * 1000,
    note: (fields) => {
      const call = { player, history, ...fields };
      calls.push(call);
      onCall(call);
    },
  });
  const first = await send(read);
  if (first.status !== ok || first.balance === null) return false;
  const { opening, concurrent } = planHistory(first.balance, earlier, random, newId);
  for (const asked of opening) if ((await send(asked)).status === null) return false;
  const outcomes = await Promise.all(
    concurrent.map(async ({ at, ...asked }) => {
      await clock.sleep(at);
      return send(asked);
    }),
  );
  if (outcomes.some(({ status }) => status === null) || !(await settle(calls, send, newId))) return false;
  if ((await send(read)).status !== ok) return false;
  return addHistory(earlier, calls).length === 0;
};

/**
 * Sends concurrent histories of callbacks for `seconds`, as a game server that repeats what was not answered, and
 * notes every call. A player whose call was never answered clearly is left alone from then on.
 * @throws when there is no player
 */
export const record = async (options: RecordOptions): Promise<void> => {
  const { players, seconds, clock } = options;
  if (players.length === 0) throw new Error('a history needs at least one player');
  const end = clock.now() + seconds * 1000;
  await Promise.all(
    players.map(async (player) => {
      const { earlier, history: first } = options.resume?.(player) ?? {
        earlier: createEarlier(),
        history: 0,
      };
      for (let history = first; clock.now() < end; history++)
        if (!(await recordHistory(player, history, earlier, options))) return;
    }),
  );
};

export interface HistoryOptions {
  target: Omit<Target, 'player'>;
  players: readonly string[];
  seconds: number;
  /** As in `RecordOptions`; default 60. */
  patience?: number;
  declared?: Declared;
  seed: number;
  /** Calls of an earlier recording, which the new one continues: it names their transactions, too. */
  resumed?: readonly Call[];
  /** Where the calls are written, those of the earlier recording first, one JSON object a line; replaced when it exists. */
  file: string;
}

const clock = { now: () => performance.now(), sleep: (ms: number) => sleep(ms) };

/** Records histories against a backend, writes them to a file and judges them. */
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
  const earlier = readEarlier(resumed);
  await record({
    patience: 60,
    ...options,
    walletOf: (player) => openWallet({ ...target, player }),
    random: createRandom(seed),
    clock,
    newId: randomUUID,
    resume: (player) => earlier.get(player),
    onCall,
  });
  out.end();
  await once(out, 'close');
  return judge(calls, declared);
};
