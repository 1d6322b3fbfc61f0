import type { Command, Policy } from '../src/ledger/command.ts';
import { idSpaceOf } from '../src/ledger/command.ts';
import { decisionOf, roundOfRollback } from '../src/ledger/domain.ts';
import type { Entry } from '../src/ledger/entry.ts';
import type { Decision, Player, State } from '../src/ledger/state.ts';

export type ModelPlayer = Omit<Player, 'seq'>;

/** The whole wallet in memory: the pure rules, and the plainest way to remember what they decided. */
export const createModel = (
  players: ReadonlyMap<string, ModelPlayer>,
  enabledGames: ReadonlySet<string>,
  sessions: ReadonlyMap<string, NonNullable<State['session']>>,
  policy: Policy,
  rules: typeof decisionOf = decisionOf,
) => {
  const balances = new Map([...players].map(([id, { balance }]) => [id, balance]));
  const entries: Entry[] = [];
  const rounds = new Map<string, 'open' | 'closed'>();
  const seqOf = (playerId: string): bigint =>
    entries.findLast((entry) => entry.playerId === playerId)?.seq ??
    ((players.get(playerId)?.balance ?? 0n) > 0n ? 1n : 0n);

  const stateFor = (command: Command): State => {
    const player = players.get(command.playerId);
    const space = idSpaceOf(command, policy.transactionIds);
    const inSpace = entries.filter((entry) => entry.idSpace === space);
    const byId = (id: string) => inSpace.find(({ transactionId }) => transactionId === id);
    const reverses = 'reverses' in command ? command.reverses : undefined;
    const state: State = {
      player: player
        ? { ...player, balance: balances.get(command.playerId) ?? 0n, seq: seqOf(command.playerId) }
        : null,
      clock: new Date(0),
      profile: null,
      round: null,
      isPromotional: false,
      isCounted: false,
      gameEnabled: 'gameCode' in command && enabledGames.has(command.gameCode),
      session: ('session' in command && sessions.get(command.session ?? '')) || null,
      known: ('transactionId' in command && byId(command.transactionId)) || null,
      target: (reverses !== undefined && byId(reverses)) || null,
      targetReversed: inSpace.some(
        (entry) => entry.operation === 'rollback' && entry.reverses === reverses && entry.amount > 0n,
      ),
    };
    if (!('roundId' in command)) return state;
    const roundId = command.operation === 'rollback' ? roundOfRollback(state, command) : command.roundId;
    return { ...state, round: rounds.get(`${command.playerId}\n${roundId}`) ?? null };
  };

  const apply = (command: Command): Decision => {
    const decision = rules(stateFor(command), command, policy);
    entries.push(...decision.entries);
    const newest = decision.entries.at(-1);
    if (newest !== undefined) balances.set(command.playerId, newest.balanceAfter);
    if (decision.round !== undefined && newest !== undefined) {
      const key = `${command.playerId}\n${newest.roundId}`;
      if (rounds.get(key) !== 'closed') rounds.set(key, decision.round);
    }
    return decision;
  };

  return { apply, balances, entries, rounds };
};
