import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { certify } from '../src/certify/run.ts';
import { recordAndJudge } from '../src/history/record.ts';
import type { Verdict } from '../src/history/judge.ts';
import type { Fault } from './faults.ts';
import { muchTrouble, noTrouble, type Trouble } from './unreliable-network.ts';
import { startWallet } from './wallet-server.ts';

/** The default of `record --seconds`. */
const recordingSeconds = 30;

const recordFrom = async (
  seed: number,
  { fault, trouble }: { fault?: Fault; trouble: Trouble },
  seconds = recordingSeconds,
): Promise<Verdict> => {
  using wallet = await startWallet({ seed, fault, trouble });
  await using folder = await mkdtempDisposable(join(tmpdir(), 'wrong-wallet-'));
  const file = join(folder.path, 'calls.jsonl');
  return await recordAndJudge({ target: wallet.target, players: ['ada'], seconds, seed, file });
};

/** Tests a wallet with a fault: returns the titles of the cases that fail, and the number of violations in a recording. */
export const findFault = async (
  fault: Fault,
  seed: number,
): Promise<{ cases: string[]; violations: number }> => {
  using wallet = await startWallet({ seed, fault });
  const results = await certify(wallet.target);
  const cases = results.flatMap(({ title, failure }) => (failure === undefined ? [] : [title]));
  const trouble = { ...noTrouble, crashEvery: muchTrouble.crashEvery };
  const { violations } = await recordFrom(seed, { fault, trouble });
  return { cases, violations: violations.length };
};

/** Records a right wallet that is slow, loses requests and answers, and crashes. */
export const recordRightWallet = (seed: number, seconds?: number): Promise<Verdict> =>
  recordFrom(seed, { trouble: muchTrouble }, seconds);
