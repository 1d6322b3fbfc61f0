import type { CallRequest, Call } from '../src/history/call.ts';
import type { Fault } from './faults.ts';

export interface Request extends CallRequest {
  player: string;
  game?: string;
}

/** The only known game. */
export const game = 'dice-alpha';

export type Answer = Pick<Call, 'status' | 'balance'>;

/** An accepted request, or a tombstone: the id of a debit that a rollback named before the debit arrived. */
interface Entry extends Omit<Request, 'operation'> {
  operation: Call['operation'] | 'tombstone';
  at: number;
  /** Position in the ledger, from 1. */
  number: number;
  /** Signed change of the balance. */
  moved: number;
  balance: number;
}

export interface WalletOptions {
  /** The initial balance of each player, in minor units. */
  players: Iterable<readonly [player: string, balance: number]>;
  random: () => number;
  /** The time in milliseconds. */
  now: () => number;
  fault?: Fault | undefined;
}

const refusal: Answer = { status: 'ERROR_UNKNOWN', balance: null };
/** Milliseconds after which a wallet with such a fault forgets, and that its commits are late. */
const [memoryMs, commitMs] = [1000, 20];

/**
 * A wallet in memory that keeps the contract: each request takes effect at one point in time. A fault makes it wrong in one
 * way. Faults that occur only in a race use the state that was read when the request arrived (`AtArrival`).
 */
export const createWallet = ({ players, random, now, fault }: WalletOptions) => {
  const balances = new Map(players);
  const entries = new Map<string, Entry>();
  const reversed = new Set<string>();
  const rounds = new Map<string, number>();
  /** The balances before each change, by player, newest last. */
  const pastBalances = new Map<string, { until: number; balance: number }[]>();
  const has = (name: Fault): boolean => fault === name;
  const fails = (name: Fault, probability: number): boolean => has(name) && random() < probability;
  const isOld = (at: number): boolean => now() - at > memoryMs;

  const keyOf = (id: string): string => (has('ids compared without case') ? id.toLowerCase() : id);
  const balanceOf = (player: string): number => balances.get(player) ?? 0;
  const setBalance = (player: string, balance: number): void => {
    const earlier = pastBalances.get(player) ?? [];
    pastBalances.set(player, [...earlier.slice(-50), { until: now(), balance: balanceOf(player) }]);
    balances.set(player, balance);
  };
  /** The balance at a time in the past. */
  const balanceAt = (player: string, time: number): number =>
    pastBalances.get(player)?.find(({ until }) => until > time)?.balance ?? balanceOf(player);

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

  const readState = (request: Request) => ({
    balance: balanceOf(request.player),
    entry: entryOf(request.transaction ?? ''),
    isClosed: isClosed(request),
  });
  type AtArrival = ReturnType<typeof readState>;

  /** Applies an accepted request and answers it. */
  const accept = (request: Request, amount: number, atArrival: AtArrival): Answer => {
    const { player, transaction = '', round = '', closes = false } = request;
    const before = balanceOf(player);
    const moved = amount > 0 && fails('a cent lost, 1 in 100', 0.01) ? amount - 1 : amount;
    const balance = (fails('lost update, 1 in 50', 0.02) ? atArrival.balance : before) + moved;
    setBalance(player, balance);
    const entry = { ...request, at: now(), number: entries.size + 1, moved, balance };
    entries.set(keyOf(transaction), entry);
    if (closes && !rounds.has(`${player}\n${round}`)) rounds.set(`${player}\n${round}`, now());
    if (fails('error although applied, 1 in 50', 0.02)) return refusal;
    const returnsOld =
      fails('old balance in the answer', 0.1) ||
      (request.operation === 'rollback' && has('old balance in the answer to a rollback'));
    return { status: 'OK', balance: returnsOld ? before : balance };
  };

  const debit = (request: Request, atArrival: AtArrival): Answer => {
    const { player, amount = 0 } = request;
    const balance = balanceOf(player);
    if ((request.game ?? game) !== game) return { status: 'ERROR_INVALID_GAME', balance: null };
    if (has('closed round ignored in a race') ? atArrival.isClosed : isClosed(request)) return refusal;
    const spendable = has('debit below zero in a race') ? atArrival.balance : balance;
    if (amount <= spendable) return accept(request, -amount, atArrival);
    if (fails('debit beyond the balance accepted in part', 0.5)) return accept(request, -balance, atArrival);
    if (fails('refused debit changes the balance', 0.5)) setBalance(player, balance - Math.min(balance, 3));
    return { status: 'ERROR_NOT_ENOUGH_MONEY', balance };
  };

  const credit = (request: Request, atArrival: AtArrival): Answer => {
    if (has('refuses every win') || fails('refuses a win, 1 in 50', 0.02)) return refusal;
    if (has('closed round ignored in a race') ? atArrival.isClosed : isClosed(request)) return refusal;
    return accept(request, request.amount ?? 0, atArrival);
  };

  const rollback = (request: Request, atArrival: AtArrival): Answer => {
    const { player, reverses = '' } = request;
    const target = entries.get(keyOf(reverses));
    if (target === undefined) {
      if (has('rollback of an unknown debit refused')) return refusal;
      const tombstone = { ...request, transaction: reverses, moved: 0, balance: balanceOf(player) };
      const number = entries.size + 1;
      entries.set(keyOf(reverses), { ...tombstone, operation: 'tombstone', at: now(), number });
      return accept(request, fails('rollback of an unknown debit pays', 0.5) ? 7 : 0, atArrival);
    }
    if (target.operation === 'tombstone') return accept(request, 0, atArrival);
    if (target.operation !== 'debit' || target.player !== player)
      return { status: 'ERROR_TRANSACTION_DOES_NOT_EXIST', balance: null };
    const isForgotten = has('rollback that forgets debits older than 1 s') && isOld(target.at);
    const isReversed = reversed.has(keyOf(reverses)) && !has('rollback refunds twice');
    const isMissed = isForgotten || fails('rollback missed, 1 in 10', 0.1);
    if (!isMissed) reversed.add(keyOf(reverses));
    return accept(request, isReversed || isMissed ? 0 : -target.moved, atArrival);
  };

  const isSame = (entry: Entry, request: Request): boolean =>
    (['player', 'operation', 'amount', 'round', 'reverses', 'closes', 'game'] as const).every(
      (field) => entry[field] === request[field],
    );

  const move = (request: Request, atArrival: AtArrival): Answer => {
    const { operation, transaction = '' } = request;
    const current = entryOf(transaction);
    const readsEarly =
      (operation === 'credit' && has('win paid twice when copies race')) ||
      (current?.operation === 'tombstone' && has('tombstone ignored in a race'));
    const entry = readsEarly ? atArrival.entry : current;
    if (entry?.operation === 'tombstone') return refusal;
    if (entry !== undefined && !(isSame(entry, request) && fails('retry applied twice', 0.2)))
      return isSame(entry, request)
        ? { status: 'OK', balance: entry.balance }
        : { status: 'ERROR_DUPLICATE_TRANSACTION', balance: null };
    if (operation === 'debit') return debit(request, atArrival);
    return operation === 'credit' ? credit(request, atArrival) : rollback(request, atArrival);
  };

  const read = ({ player }: Request): Answer => {
    const lag = has('replica that lags by 20 ms') ? 20 : 0;
    const last = pastBalances.get(player)?.at(-1)?.balance;
    const stale = fails('stale read, 1 in 20', 0.05) ? last : undefined;
    return { status: 'OK', balance: stale ?? balanceAt(player, now() - lag) };
  };

  return {
    balanceOf: (player: string): number | undefined => balances.get(player),
    /** Accepts a request. Returns a function that processes it; call it once, when the request takes effect. */
    arrive: (request: Request): (() => Answer) => {
      const atArrival = readState(request);
      return () => {
        const answer = request.operation === 'balance' ? read(request) : move(request, atArrival);
        const otherBalance = [...balances].find(([player]) => player !== request.player)?.[1] ?? 0;
        const returnsOther = answer.balance !== null && fails("another player's balance, 1 in 200", 0.005);
        return returnsOther ? { ...answer, balance: otherBalance } : answer;
      };
    },
    /** Simulates a crash and restart: uncommitted writes are lost. */
    crash: (time: number): void => {
      for (const [key, { at, player, operation, moved }] of entries) {
        const isLost =
          (has('answer before the commit, lost in a crash') && time - at < commitMs) ||
          (has('tombstones forgotten in a crash') && operation === 'tombstone') ||
          has('duplicate detection forgotten in a crash');
        if (isLost) entries.delete(key);
        if (isLost && has('answer before the commit, lost in a crash'))
          setBalance(player, balanceOf(player) - moved);
      }
    },
  };
};

export type TestWallet = ReturnType<typeof createWallet>;
