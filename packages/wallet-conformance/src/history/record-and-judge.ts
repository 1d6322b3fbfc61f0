import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import type { Target } from '../certify/wallet.ts';
import type { Call } from './call.ts';
import { judge, type Verdict } from './judge.ts';
import { createRandom } from '../random.ts';
import { record } from './record.ts';

export interface HistoryOptions {
  target: Omit<Target, 'player'>;
  players: readonly string[];
  seconds: number;
  seed: number;
  /** Where the calls are written, one JSON object a line; replaced when it exists. */
  file: string;
}

/** Records histories against a backend, writes them to a file and judges them. */
export const recordAndJudge = async ({ seed, file, ...options }: HistoryOptions): Promise<Verdict> => {
  const calls: Call[] = [];
  const out = createWriteStream(file);
  await once(out, 'open');
  await record({
    ...options,
    random: createRandom(seed),
    onCall: (call) => {
      calls.push(call);
      out.write(`${JSON.stringify(call)}\n`);
    },
  });
  out.end();
  await once(out, 'close');
  return judge(calls);
};
