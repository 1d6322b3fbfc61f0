import type { Call } from '../src/history/call.ts';
import { planHistory, type Planned } from '../src/history/plan.ts';

/** What a backend may do wrong; each is one fault. */
export const faults = [
  'lost update',
  'stale balance',
  'copy applied twice',
  'credit paid twice at once',
  'rolled back debit taken later',
  'rollback gives back twice',
  'rollback of an unknown debit pays',
  'acknowledged debit lost in a crash',
  'more than the balance taken',
  'refused debit taken nevertheless',
  'balance of before in the answer',
  'rollback answered but not done',
] as const;
export type Fault = (typeof faults)[number];

type Fate = 'applied' | 'reversed' | 'tombstoned';
type Answer = Pick<Call, 'status' | 'balance'>;

/**
 * The reference wallet of one player, in memory: each call takes effect at once at one point in time. With a fault it
 * does one thing wrong, some of the time.
 */
export const createSimulatedWallet = (opening: number, random: () => number, fault?: Fault) => {
  let balance = opening;
  let previous = opening;
  const fates = new Map<string, Fate>();
  const answers = new Map<string, number>();
  const amounts = new Map<string, number>();
  const fails = (one: Fault): boolean => fault === one && random() < 0.5;

  const move = (transaction: string, by: number): Answer => {
    const before = balance;
    // A writer that read the balance before its neighbour wrote.
    balance = (fails('lost update') ? previous : balance) + by;
    previous = before;
    answers.set(transaction, balance);
    return { status: 'OK', balance: fails('balance of before in the answer') ? before : balance };
  };

  const debit = ({ transaction = '', amount = 0 }: Planned): Answer => {
    const fate = fates.get(transaction);
    if (fate === 'tombstoned' && !fails('rolled back debit taken later'))
      return { status: 'ERROR_UNKNOWN', balance: null };
    if ((fate === 'applied' || fate === 'reversed') && !fails('copy applied twice'))
      return { status: 'OK', balance: answers.get(transaction) ?? 0 };
    if (balance < amount) {
      if (fails('refused debit taken nevertheless')) balance -= Math.min(balance, amount);
      else if (!fails('more than the balance taken')) return { status: 'ERROR_NOT_ENOUGH_MONEY', balance };
      else return { status: 'OK', balance: (balance = 0) };
      return { status: 'ERROR_NOT_ENOUGH_MONEY', balance: null };
    }
    fates.set(transaction, 'applied');
    amounts.set(transaction, amount);
    if (fails('acknowledged debit lost in a crash')) return { status: 'OK', balance: balance - amount };
    return move(transaction, -amount);
  };

  const credit = ({ transaction = '', amount = 0 }: Planned): Answer => {
    if (fates.has(transaction) && !fails('credit paid twice at once'))
      return { status: 'OK', balance: answers.get(transaction) ?? 0 };
    fates.set(transaction, 'applied');
    return move(transaction, amount);
  };

  const rollback = ({ transaction = '', reverses = '' }: Planned): Answer => {
    if (fates.has(transaction)) return { status: 'OK', balance: answers.get(transaction) ?? 0 };
    fates.set(transaction, 'applied');
    const fate = fates.get(reverses);
    const twice = fate === 'reversed' && fails('rollback gives back twice');
    if (fate === 'applied' || twice) {
      if (fails('rollback answered but not done'))
        return { status: 'OK', balance: balance + (amounts.get(reverses) ?? 0) };
      fates.set(reverses, 'reversed');
      return move(transaction, amounts.get(reverses) ?? 0);
    }
    if (fate === undefined) {
      fates.set(reverses, 'tombstoned');
      if (fails('rollback of an unknown debit pays')) return move(transaction, 7);
    }
    return move(transaction, 0);
  };

  const read = (): Answer => ({ status: 'OK', balance: fails('stale balance') ? previous : balance });

  return {
    answer: (call: Planned): Answer =>
      call.operation === 'debit'
        ? debit(call)
        : call.operation === 'credit'
          ? credit(call)
          : call.operation === 'rollback'
            ? rollback(call)
            : read(),
  };
};

/** Records histories of one player against a simulated wallet, on a simulated clock. */
export const simulate = (
  random: () => number,
  {
    player = 'ada',
    histories = 1,
    opening = 100_000,
    fault,
  }: { player?: string; histories?: number; opening?: number; fault?: Fault } = {},
): Call[] => {
  const wallet = createSimulatedWallet(opening, random, fault);
  const calls: Call[] = [];
  let clock = 0;
  let ids = 0;
  for (let history = 0; history < histories; history++) {
    const serial = (): number => {
      const { status, balance } = wallet.answer({ operation: 'balance', at: 0 });
      calls.push({
        player,
        history,
        operation: 'balance',
        sent: clock,
        answered: clock + 10,
        status,
        balance,
      });
      clock += 20;
      return balance ?? 0;
    };
    const balance = serial();
    const planned = planHistory(balance, random, () => `t${ids++}`).map((plan) => {
      const sent = clock + plan.at * 1000;
      const effect = sent + random() * 15_000;
      return { plan, sent, effect, answered: effect + random() * 10_000, lost: random() < 0.1 };
    });
    for (const { plan, sent, answered, lost } of planned.toSorted((a, b) => a.effect - b.effect)) {
      const { at: _at, ...fields } = plan;
      const arrives = !lost || random() < 0.5;
      const answer = arrives ? wallet.answer(plan) : { status: null, balance: null };
      const known = lost ? { answered: null, status: null, balance: null } : { answered, ...answer };
      calls.push({ player, history, ...fields, sent, ...known });
    }
    clock = Math.max(...planned.map(({ answered }) => answered)) + 10;
    serial();
  }
  return calls;
};
