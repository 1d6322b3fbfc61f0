import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { openBackend, type Deviations, type Reply, type Target } from '../certify/wallet.ts';

/** Faults of callbacks that the game server sends. */
const callbackFaults = ['lost', 'late', 'doubled', 'reordered', 'signature'] as const;
/** Faults of its answers to launches and to requests for the currencies. */
const answerFaults = ['late', 'garbled', 'error'] as const;

const faultKinds = [...new Set([...callbackFaults, ...answerFaults])];
type FaultKind = (typeof faultKinds)[number];
/** The probability of each fault, from 0 to 1. */
export type FaultRates = Partial<Record<FaultKind, number>>;

/** Parses rates such as `late=0.1,doubled=0.2`. Throws an Error that says what is wrong with them. */
export const readFaultRates = (text: string): FaultRates => {
  const rates: FaultRates = {};
  for (const pair of text.split(',').filter((part) => part !== '')) {
    const [name, rate] = pair.split('=', 2);
    const kind = faultKinds.find((known) => known === name);
    const probability = Number(rate);
    if (kind === undefined || !(probability >= 0 && probability <= 1))
      throw new Error(
        `--faults must look like late=0.1,doubled=0.2; the faults are ${faultKinds.join(', ')}`,
      );
    rates[kind] = probability;
  }
  for (const kinds of [callbackFaults, answerFaults]) {
    const sum = kinds.reduce((total, kind) => total + (rates[kind] ?? 0), 0);
    // Allows rounding: a sum such as 0.1 + 0.2 + 0.7 may be slightly more than 1.
    if (sum > 1.000001) throw new Error(`--faults: the sum must be at most 1 for ${kinds.join(', ')}`);
  }
  return rates;
};

/** Chooses a random fault for each callback and each answer, with these rates; undefined for no fault. */
export const createFaults = (rates: FaultRates, random: () => number) => {
  const choose = <Kind extends FaultKind>(kinds: readonly Kind[]): Kind | undefined => {
    let draw = random();
    return kinds.find((kind) => (draw -= rates[kind] ?? 0) < 0);
  };
  return { drawCallbackFault: () => choose(callbackFaults), drawAnswerFault: () => choose(answerFaults) };
};

export type Faults = ReturnType<typeof createFaults>;

/** The answer of an operator; `http` is 0 when none arrived in time. */
export type CallbackAnswer = Pick<Reply, 'http'> & Partial<Reply>;

const noAnswer: CallbackAnswer = { http: 0 };

/** How long the operator may take to answer. */
const limitMs = 5000;

interface CallerOptions extends Pick<Target, 'url' | 'secret'> {
  /** Injected faults; none when undefined. */
  faults?: Faults | undefined;
}

const maxAttempts = 4;

/** Delay of a late callback: it arrives after the retries, and often after its rollback. */
const lateMs = 1000;

export type Caller = ReturnType<typeof createCaller>;

export const createCaller = ({ url, secret, faults }: CallerOptions) => {
  const backend = openBackend({ url, secret, limitMs });
  const held: (() => Promise<unknown>)[] = [];
  const inProgress = new Set<Promise<unknown>>();
  const track = (sent: Promise<unknown>): void => {
    inProgress.add(sent);
    void sent.finally(() => inProgress.delete(sent));
  };
  const sendHeld = (): void => {
    for (const send of held.splice(0)) track(send());
  };

  const sendOnce = async (callback: string, body: object): Promise<CallbackAnswer> => {
    // An error means no connection, or no answer in time: `call` retries it.
    const send = (deviations?: Deviations): Promise<CallbackAnswer> =>
      backend(callback, JSON.stringify(body), deviations).catch(() => noAnswer);
    switch (faults?.drawCallbackFault()) {
      case 'lost':
        await send();
        return noAnswer;
      case 'late':
        track(sleep(lateMs).then(() => send()));
        return noAnswer;
      case 'reordered':
        // Held until the next callback was answered.
        held.push(send);
        return noAnswer;
      case 'doubled':
        return (await Promise.all([send(), send()]))[0];
      case 'signature':
        await send({ secret: 'another secret' });
        return noAnswer;
      default: {
        const answer = await send();
        sendHeld();
        return answer;
      }
    }
  };

  return {
    /**
     * Sends a callback and retries it like a real game server: without a clear answer (none, or 5xx) it is sent again with
     * the same transactionId, after increasing pauses. Resolves with `http` 0 when no attempt got a clear answer.
     */
    call: async (callback: string, fields: object): Promise<CallbackAnswer> => {
      for (let attempt = 0; attempt < maxAttempts; attempt++) {
        if (attempt > 0) await sleep(50 * 2 ** attempt);
        const answer = await sendOnce(callback, { requestId: randomUUID(), ...fields });
        if (answer.http > 0 && answer.http < 500) return answer;
      }
      return noAnswer;
    },
    /** Sends the held callbacks, and resolves when all callbacks have been answered. */
    settle: async (): Promise<void> => {
      sendHeld();
      await Promise.all(inProgress);
    },
  };
};
