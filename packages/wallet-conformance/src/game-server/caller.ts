import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { openBackend, type Deviations, type Reply } from '../certify/wallet.ts';

/** What may go wrong with callbacks that a game server sends. */
const callbackFaults = ['lost', 'late', 'doubled', 'reordered', 'signature'] as const;
/** What may go wrong with its answers to launches and currencies. */
const answerFaults = ['late', 'garbled', 'error'] as const;

const faultKinds = [...new Set([...callbackFaults, ...answerFaults])];
type FaultKind = (typeof faultKinds)[number];
/** Chances from 0 to 1. */
export type FaultRates = Partial<Record<FaultKind, number>>;

export interface Faults {
  ofCallback(): (typeof callbackFaults)[number] | undefined;
  ofAnswer(): (typeof answerFaults)[number] | undefined;
}

/** Reads rates such as `late=0.1,doubled=0.2`. Throws an Error that says what is wrong with them. */
export const readFaultRates = (text: string): FaultRates => {
  const rates: FaultRates = {};
  for (const pair of text.split(',').filter((part) => part !== '')) {
    const [name, rate] = pair.split('=', 2);
    const kind = faultKinds.find((known) => known === name);
    const chance = Number(rate);
    if (kind === undefined || !(chance >= 0 && chance <= 1))
      throw new Error(
        `--faults must be such as late=0.1,doubled=0.2; the faults are ${faultKinds.join(', ')}`,
      );
    rates[kind] = chance;
  }
  for (const kinds of [callbackFaults, answerFaults]) {
    const sum = kinds.reduce((total, kind) => total + (rates[kind] ?? 0), 0);
    // Such as 0.1 + 0.2 + 0.7 may be a little more than 1.
    if (sum > 1.000001) throw new Error(`--faults must be at most 1 together: ${kinds.join(', ')}`);
  }
  return rates;
};

/** Chooses faults by their rates. */
export const createFaults = (rates: FaultRates, random: () => number): Faults => {
  const choose = <Kind extends FaultKind>(kinds: readonly Kind[]): Kind | undefined => {
    let draw = random();
    return kinds.find((kind) => (draw -= rates[kind] ?? 0) < 0);
  };
  return { ofCallback: () => choose(callbackFaults), ofAnswer: () => choose(answerFaults) };
};

/** The answer of an operator; `http` is 0 when none arrived in time. */
export type CallbackAnswer = Pick<Reply, 'http'> & Partial<Reply>;

const noAnswer: CallbackAnswer = { http: 0 };

/** How long one answer may take. */
const limitMs = 5000;

interface CallerOptions {
  /** {callback_url}: the address that `/callback/…` is appended to. */
  url: string;
  secret: string;
  /** What goes wrong on purpose; nothing when undefined. */
  faults?: Faults | undefined;
}

const attempts = 4;

/** Later than the repetitions of a callback, and often later than its rollback. */
const lateMs = 1000;

export interface Caller {
  /**
   * Repeats like a real game server: a callback without a clear answer (none, or 5xx) is sent again with the same
   * transactionId, a little later each time. Gives the last answer.
   */
  call(callback: string, fields: object): Promise<CallbackAnswer>;
  /** Sends what is held back, and resolves when everything has been answered. */
  settle(): Promise<void>;
}

export const createCaller = ({ url, secret, faults }: CallerOptions): Caller => {
  const backend = openBackend({ url, secret, limitMs });
  const held: (() => Promise<unknown>)[] = [];
  const underWay = new Set<Promise<unknown>>();
  const follow = (sent: Promise<unknown>): void => {
    underWay.add(sent);
    void sent.finally(() => underWay.delete(sent));
  };
  const release = (): void => {
    for (const send of held.splice(0)) follow(send());
  };

  const sendOnce = async (callback: string, body: object): Promise<CallbackAnswer> => {
    // No connection, or no answer in time: a game server sends such a callback again.
    const send = (deviations?: Deviations): Promise<CallbackAnswer> =>
      backend(callback, JSON.stringify(body), deviations).catch(() => noAnswer);
    switch (faults?.ofCallback()) {
      case 'lost':
        await send();
        return noAnswer;
      case 'late':
        follow(sleep(lateMs).then(() => send()));
        return noAnswer;
      case 'reordered':
        // It arrives after the next callback.
        held.push(send);
        return noAnswer;
      case 'doubled':
        return (await Promise.all([send(), send()]))[0];
      case 'signature':
        await send({ secret: 'another secret' });
        return noAnswer;
      default: {
        const answer = await send();
        release();
        return answer;
      }
    }
  };

  return {
    call: async (callback, fields) => {
      let answer = noAnswer;
      for (let attempt = 0; attempt < attempts; attempt++) {
        if (attempt > 0) await sleep(50 * 2 ** attempt);
        answer = await sendOnce(callback, { requestId: randomUUID(), ...fields });
        if (answer.http > 0 && answer.http < 500) return answer;
      }
      return noAnswer;
    },
    settle: async () => {
      release();
      await Promise.all(underWay);
    },
  };
};
