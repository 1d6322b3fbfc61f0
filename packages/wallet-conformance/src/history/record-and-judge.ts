import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { openWallet, type Target } from '../certify/wallet.ts';
import { createRandom } from '../random.ts';
import type { Call } from './call.ts';
import { judge, type Verdict } from './judge.ts';
import type { Declared } from './model.ts';
import { record } from './record.ts';
import { readEarlier } from './earlier.ts';

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
