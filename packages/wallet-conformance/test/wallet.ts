import type { Asked, Call } from '../src/history/call.ts';
import type { Fault } from './faults.ts';

export interface Request extends Asked {
  player: string;
  game?: string;
}

/** The one game that can be played. */
export const game = 'dice-alpha';

export type Answer = Pick<Call, 'status' | 'balance'>;

/** An accepted request, or a tombstone: the id of a debit that a rollback named before it came. */
interface Entry extends Omit<Request, 'operation'> {
  operation: Call['operation'] | 'tombstone';
  at: number;
  /** Counts from 1. */
  number: number;
  /** Signed. */
  moved: number;
  balance: number;
}

export interface WalletOptions {
  /** Minor units of each player. */
  players: Iterable<readonly [player: string, balance: number]>;
  random: () => number;
  /** Milliseconds. */
  now: () => number;
  fault?: Fault | undefined;
}

const refusal: Answer = { status: 'ERROR_UNKNOWN', balance: null };
/** Milliseconds that a wallet with such a fault remembers, and in which its writes are committed. */
const [memoryMs, commitMs] = [1000, 20];

/**
 * A wallet in memory that keeps the contract: each request takes effect at one point in time. With a fault it does one
 * thing wrong. What a request reads on its arrival is given to `decide`, for the faults that only show in a race.
 */
export const createWallet = ({ players, random, now, fault }: WalletOptions) => {
  const balances = new Map(players);
  const entries = new Map<string, Entry>();
  const reversed = new Set<string>();
  const rounds = new Map<string, number>();
  /** Balances before each change, by player, newest last. */
  const past = new Map<string, { until: number; balance: number }[]>();
  const has = (name: Fault): boolean => fault === name;
  const fails = (name: Fault, often: number): boolean => has(name) && random() < often;
  const isOld = (at: number): boolean => now() - at > memoryMs;

  const keyOf = (id: string): string => (has('id compared without case') ? id.toLowerCase() : id);
  const balanceOf = (player: string): number => balances.get(player) ?? 0;
  const setBalance = (player: string, balance: number): void => {
    const before = past.get(player) ?? [];
    past.set(player, [...before.slice(-50), { until: now(), balance: balanceOf(player) }]);
    balances.set(player, balance);
  };
  /** The balance that counted at some time. */
  const balanceAt = (player: string, time: number): number =>
    past.get(player)?.find(({ until }) => until > time)?.balance ?? balanceOf(player);

  const entryOf = (id: string): Entry | undefined => {
    const entry = entries.get(keyOf(id));
    if (entry?.operation === 'tombstone')
      return has('tombstone ignored') || (has('tombstones that expire after 1 s') && isOld(entry.at))
        ? undefined
        : entry;
    if (entry !== undefined && has('duplicate detection that forgets after 1 s') && isOld(entry.at))
      return undefined;
    if (has('duplicate detection of the last 200 ids') && (entry?.number ?? 0) < entries.size - 200)
      return undefined;
    return entry;
  };
  const isClosed = ({ player, round = '' }: Request): boolean => {
    const at = rounds.get(`${player}\n${round}`);
    return at !== undefined && !(has('closed rounds that expire after 1 s') && isOld(at));
  };

  const look = (request: Request) => ({
    balance: balanceOf(request.player),
    entry: entryOf(request.transaction ?? ''),
    isClosed: isClosed(request),
  });
  type Seen = ReturnType<typeof look>;

  /** Books an accepted request and answers it. */
  const accept = (request: Request, amount: number, seen: Seen): Answer => {
    const { player, transaction = '', round = '', closes = false } = request;
    const before = balanceOf(player);
    const moved = amount > 0 && fails('a cent lost, 1 in 100', 0.01) ? amount - 1 : amount;
    const balance = (fails('lost update, 1 in 50', 0.02) ? seen.balance : before) + moved;
    setBalance(player, balance);
    const entry = { ...request, at: now(), number: entries.size + 1, moved, balance };
    entries.set(keyOf(transaction), entry);
    if (closes && !rounds.has(`${player}\n${round}`)) rounds.set(`${player}\n${round}`, now());
    if (fails('error although applied, 1 in 50', 0.02)) return refusal;
    const saysBefore =
      fails('balance of before in the answer', 0.1) ||
      (request.operation === 'rollback' && has('balance of before in the answer to a rollback'));
    return { status: 'OK', balance: saysBefore ? before : balance };
  };

  const debit = (request: Request, seen: Seen): Answer => {
    const { player, amount = 0 } = request;
    const balance = balanceOf(player);
    if ((request.game ?? game) !== game) return { status: 'ERROR_INVALID_GAME', balance: null };
    if (has('closed round ignored in a race') ? seen.isClosed : isClosed(request)) return refusal;
    const spendable = has('debit below zero in a race') ? seen.balance : balance;
    if (amount <= spendable) return accept(request, -amount, seen);
    if (fails('more than the balance taken', 0.5)) return accept(request, -balance, seen);
    if (fails('refused debit taken nevertheless', 0.5)) setBalance(player, balance - Math.min(balance, 3));
    return { status: 'ERROR_NOT_ENOUGH_MONEY', balance };
  };

  const credit = (request: Request, seen: Seen): Answer => {
    if (has('refuses every win') || fails('refuses a win, 1 in 50', 0.02)) return refusal;
    if (has('closed round ignored in a race') ? seen.isClosed : isClosed(request)) return refusal;
    return accept(request, request.amount ?? 0, seen);
  };

  const rollback = (request: Request, seen: Seen): Answer => {
    const { player, reverses = '' } = request;
    const target = entries.get(keyOf(reverses));
    if (target === undefined) {
      if (has('rollback of an unknown debit refused')) return refusal;
      const tombstone = { ...request, transaction: reverses, moved: 0, balance: balanceOf(player) };
      const number = entries.size + 1;
      entries.set(keyOf(reverses), { ...tombstone, operation: 'tombstone', at: now(), number });
      return accept(request, fails('rollback of an unknown debit pays', 0.5) ? 7 : 0, seen);
    }
    if (target.operation === 'tombstone') return accept(request, 0, seen);
    if (target.operation !== 'debit' || target.player !== player)
      return { status: 'ERROR_TRANSACTION_DOES_NOT_EXIST', balance: null };
    const isForgotten = has('rollback that forgets debits older than 1 s') && isOld(target.at);
    const isReversed = reversed.has(keyOf(reverses)) && !has('rollback gives back twice');
    const isMissed = isForgotten || fails('rollback missed, 1 in 10', 0.1);
    if (!isMissed) reversed.add(keyOf(reverses));
    return accept(request, isReversed || isMissed ? 0 : -target.moved, seen);
  };

  const isSame = (entry: Entry, request: Request): boolean =>
    (['player', 'operation', 'amount', 'round', 'reverses', 'closes', 'game'] as const).every(
      (field) => entry[field] === request[field],
    );

  const move = (request: Request, seen: Seen): Answer => {
    const { operation, transaction = '' } = request;
    const current = entryOf(transaction);
    const readsEarly =
      (operation === 'credit' && has('win paid twice when copies race')) ||
      (current?.operation === 'tombstone' && has('tombstone ignored in a race'));
    const entry = readsEarly ? seen.entry : current;
    if (entry?.operation === 'tombstone') return refusal;
    if (entry !== undefined && !(isSame(entry, request) && fails('retry applied twice', 0.2)))
      return isSame(entry, request)
        ? { status: 'OK', balance: entry.balance }
        : { status: 'ERROR_DUPLICATE_TRANSACTION', balance: null };
    if (operation === 'debit') return debit(request, seen);
    return operation === 'credit' ? credit(request, seen) : rollback(request, seen);
  };

  const read = ({ player }: Request): Answer => {
    const lag = has('replica that lags by 20 ms') ? 20 : 0;
    const last = past.get(player)?.at(-1)?.balance;
    const stale = fails('stale read, 1 in 20', 0.05) ? last : undefined;
    return { status: 'OK', balance: stale ?? balanceAt(player, now() - lag) };
  };

  return {
    balanceOf: (player: string): number | undefined => balances.get(player),
    /** A request has arrived. Returns what decides it, once, when it takes effect. */
    arrive: (request: Request): (() => Answer) => {
      const seen = look(request);
      return () => {
        const answer = request.operation === 'balance' ? read(request) : move(request, seen);
        const other = [...balances].find(([player]) => player !== request.player)?.[1] ?? 0;
        const isOther = answer.balance !== null && fails("another player's balance, 1 in 200", 0.005);
        return isOther ? { ...answer, balance: other } : answer;
      };
    },
    /** The process ends and starts again. What was not committed is lost. */
    crash: (time: number): void => {
      for (const [key, { at, player, operation, moved }] of entries) {
        const isLost =
          (has('crash before commit after the answer') && time - at < commitMs) ||
          (has('tombstones forgotten in a crash') && operation === 'tombstone') ||
          has('duplicate detection forgotten in a crash');
        if (isLost) entries.delete(key);
        if (isLost && has('crash before commit after the answer'))
          setBalance(player, balanceOf(player) - moved);
      }
    },
  };
};

export type TestWallet = ReturnType<typeof createWallet>;
