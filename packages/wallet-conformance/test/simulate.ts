import { decimal, minorUnits } from '@platform/wallet-protocol/money';
import type { Reply } from '../src/certify/wallet.ts';
import type { CallRequest, Call } from '../src/history/call.ts';
import { record } from '../src/history/record.ts';
import type { Callbacks } from '../src/history/sender.ts';
import { createRandom } from '../src/random.ts';
import type { Fault } from './faults.ts';
import { behindNetwork, noTrouble, type Trouble } from './unreliable-network.ts';
import { createVirtualClock } from './virtual-clock.ts';
import { createWallet } from './wallet.ts';

export interface Simulation {
  seed: number;
  /** Duration in virtual time. */
  seconds: number;
  player?: string;
  /** Initial balance, in minor units. */
  balance?: number;
  fault?: Fault;
  trouble?: Trouble;
  patience?: number;
  resumed?: readonly Call[];
}

/** The recorded form of the fields of a callback. */
const callRequestOf = (operation: CallRequest['operation'], fields: Record<string, unknown>): CallRequest => {
  const { transactionId, reverseTransactionId, roundId, amount, roundClosed } = fields;
  return {
    operation,
    ...(typeof transactionId === 'string' && { transaction: transactionId }),
    ...(typeof reverseTransactionId === 'string' && { reverses: reverseTransactionId }),
    ...(typeof roundId === 'string' && { round: roundId }),
    ...(typeof amount === 'string' && { amount: minorUnits(amount) }),
    ...(typeof roundClosed === 'boolean' && { closes: roundClosed }),
  };
};

/** Records histories of one player against a wallet in memory, on a virtual clock. */
export const simulate = ({
  seed,
  seconds,
  player = 'ada',
  balance = 100_000,
  fault,
  trouble = noTrouble,
  patience = 60,
  resumed = [],
}: Simulation): Promise<Call[]> => {
  const clock = createVirtualClock();
  const random = createRandom(seed ^ 0x5bd1e995);
  const players = [
    [player, balance],
    [`not ${player}`, 4321],
  ] as const;
  const wallet = createWallet({ players, random, now: clock.now, fault });
  const answer = behindNetwork(wallet, { clock, random, trouble });
  const createCallback =
    (operation: CallRequest['operation']) =>
    async (fields: Record<string, unknown> = {}): Promise<Reply> => {
      const result = await answer({ player, ...callRequestOf(operation, fields) });
      if (result === undefined) throw new Error('the connection was lost');
      const { status, balance: minor } = result;
      return { http: 200, text: '', status, ...(minor !== null && { balance: decimal(minor) }) };
    };
  const callbacks: Callbacks = {
    debit: createCallback('debit'),
    credit: createCallback('credit'),
    rollback: createCallback('rollback'),
    balance: createCallback('balance'),
  };
  const calls: Call[] = [...resumed];
  let nextId = 0;
  return clock.run(async () => {
    await record({
      walletOf: () => callbacks,
      players: [player],
      seconds,
      patience,
      random: createRandom(seed),
      clock,
      newId: () => `${player}-${seed}-${nextId++}`,
      resumed,
      onCall: (call) => calls.push(call),
    });
    return calls;
  });
};
