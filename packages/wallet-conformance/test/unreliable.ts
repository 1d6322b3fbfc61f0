import type { Clock } from '../src/history/sender.ts';
import type { Answer, Request, TestWallet } from './wallet.ts';

/** What goes wrong between a caller and a wallet, each as a share of the requests; a right wallet allows for all of it. */
export interface Trouble {
  /** The request never arrives. */
  lostRequest: number;
  /** The connection is reset while the request is under way, and it takes effect long afterwards. */
  late: number;
  /** The request takes effect, the answer never arrives. */
  lostAnswer: number;
  /** Milliseconds between two crashes, which all take requests under way with them; Infinity: none. */
  crashEvery: number;
}

export const noTrouble: Trouble = { lostRequest: 0, late: 0, lostAnswer: 0, crashEvery: Infinity };
export const muchTrouble: Trouble = { lostRequest: 0.05, late: 0.03, lostAnswer: 0.05, crashEvery: 1500 };

/** Milliseconds: the longest way to the wallet and back, its longest decision, the longest delay, a restart. */
const [wayMs, decisionMs, lateMs, restartMs] = [5, 8, 300, 200];

/**
 * A wallet behind a network: it takes some time for each request, and so do the ways to it and back. Resolves with
 * undefined when the connection was lost.
 */
export const behindNetwork = (
  wallet: TestWallet,
  { clock, random, trouble }: { clock: Clock; random: () => number; trouble: Trouble },
) => {
  const begin = clock.now();
  let upSince = begin;
  const restartWhenDue = (): void => {
    const lastCrash = begin + Math.floor((clock.now() - begin) / trouble.crashEvery) * trouble.crashEvery;
    if (!(lastCrash > upSince)) return;
    wallet.crash(lastCrash);
    upSince = lastCrash + restartMs;
  };
  return async (request: Request): Promise<Answer | undefined> => {
    const pause = (longest: number): Promise<unknown> => clock.sleep(random() * longest);
    restartWhenDue();
    const start = upSince;
    const [isLost, isLate, isUnheard] = [
      random() < trouble.lostRequest,
      random() < trouble.late,
      random() < trouble.lostAnswer,
    ];
    await pause(wayMs);
    if (isLost || clock.now() < start) return undefined;
    const decide = wallet.arrive(request);
    if (isLate) {
      void pause(lateMs).then(() => (upSince === start ? decide() : undefined));
      return undefined;
    }
    await pause(decisionMs);
    restartWhenDue();
    if (upSince !== start) return undefined;
    const answer = decide();
    await pause(wayMs);
    return isUnheard || upSince !== start ? undefined : answer;
  };
};
