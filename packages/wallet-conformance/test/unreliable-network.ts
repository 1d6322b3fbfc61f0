import type { Clock } from '../src/history/sender.ts';
import type { Answer, Request, TestWallet } from './wallet.ts';

/** Failures between a caller and a wallet, as shares of the requests. A right wallet must tolerate all of them. */
export interface Trouble {
  /** The request never arrives. */
  lostRequest: number;
  /** The connection is reset during the request, which takes effect long afterwards. */
  late: number;
  /** The request takes effect, the answer never arrives. */
  lostAnswer: number;
  /** Milliseconds between two crashes; a crash loses all requests in progress. Infinity: no crashes. */
  crashEvery: number;
}

export const noTrouble: Trouble = { lostRequest: 0, late: 0, lostAnswer: 0, crashEvery: Infinity };
export const muchTrouble: Trouble = { lostRequest: 0.05, late: 0.03, lostAnswer: 0.05, crashEvery: 1500 };

/** Milliseconds: maximum network latency each way, maximum processing time, maximum delay of late requests, restart time. */
const [latencyMs, processingMs, lateMs, restartMs] = [5, 8, 300, 200];

/**
 * Simulates an unreliable network in front of a wallet. Returns a function that sends a request and resolves with the
 * answer, or with undefined when the connection was lost.
 */
export const behindNetwork = (
  wallet: TestWallet,
  { clock, random, trouble }: { clock: Clock; random: () => number; trouble: Trouble },
) => {
  const startedAt = clock.now();
  let upSince = startedAt;
  const restartWhenDue = (): void => {
    const crashes = Math.floor((clock.now() - startedAt) / trouble.crashEvery);
    const lastCrash = startedAt + crashes * trouble.crashEvery;
    if (!(lastCrash > upSince)) return;
    wallet.crash(lastCrash);
    upSince = lastCrash + restartMs;
  };
  return async (request: Request): Promise<Answer | undefined> => {
    const pause = (longest: number): Promise<unknown> => clock.sleep(random() * longest);
    restartWhenDue();
    const upSinceAtStart = upSince;
    const [isLost, isLate, isAnswerLost] = [
      random() < trouble.lostRequest,
      random() < trouble.late,
      random() < trouble.lostAnswer,
    ];
    await pause(latencyMs);
    if (isLost || clock.now() < upSinceAtStart) return undefined;
    const decide = wallet.arrive(request);
    if (isLate) {
      void pause(lateMs).then(() => (upSince === upSinceAtStart ? decide() : undefined));
      return undefined;
    }
    await pause(processingMs);
    restartWhenDue();
    if (upSince !== upSinceAtStart) return undefined;
    const answer = decide();
    await pause(latencyMs);
    return isAnswerLost || upSince !== upSinceAtStart ? undefined : answer;
  };
};
