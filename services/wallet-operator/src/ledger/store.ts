import type { Sql } from 'postgres';
import type { Command, Policy, Reason, Status } from './command.ts';
import { idSpaceOf } from './id-space.ts';

/** What became of one command. */
export interface Outcome {
  status: Status;
  /** Minor units as digits: int64 does not fit a JavaScript number. */
  balance: string | undefined;
  reason: Reason | undefined;
  /** What authenticate tells about the player. */
  profile: Profile | undefined;
}

export interface Profile {
  name: string | null;
  countryCode: string | null;
  languageCode: string | null;
  birthDate: string | null;
  registrationDate: string;
  address: string | null;
  excludedUntil: string | null;
}

interface OutcomeRow {
  n: number;
  status: Status;
  balance: string | null;
  reason: Reason | null;
  profile: Profile | null;
}

/** All that commands have between them. */
interface Wide {
  operation: string;
  playerId: string;
  transactionId?: string;
  roundId?: string;
  gameCode?: string;
  amount?: number;
  reverses?: string;
  roundClosed?: boolean;
  session?: string;
  currency?: string;
}

/** By the names of the function's items; JSON leaves out what is undefined. */
const wire = (command: Wide, n: number, policy: Policy) => ({
  n,
  op: command.operation,
  p: command.playerId,
  k: idSpaceOf(command, policy.transactionIds),
  t: command.transactionId,
  r: command.roundId,
  g: command.gameCode,
  a: command.amount,
  v: command.reverses,
  c: command.roundClosed,
  s: command.session,
  u: command.currency,
});

/** Whose money commands may move. */
const playersOf = (commands: readonly Command[]): string[] => {
  const players = new Set<string>();
  for (const { operation, playerId } of commands)
    if (operation !== 'balance' && operation !== 'authenticate') players.add(playerId);
  return [...players];
};

/**
 * Decides and writes commands in one transaction, in one round trip; outcomes in the order of the
 * commands. It resolves only after the commit. No two commands may name the same transaction or the
 * same round (see `keysOf`).
 */
export const commitBatch = async (
  sql: Sql,
  commands: readonly Command[],
  now: Date,
  policy: Policy,
): Promise<Outcome[]> => {
  const rows = await sql<OutcomeRow[]>`
    select * from commit_batch(${JSON.stringify(commands.map((command, n) => wire(command, n, policy)))}::text::json, ${playersOf(commands)},
      ${now.toISOString()}, ${policy.rollbackAfterClose}, ${policy.creditUnknownRound}, ${policy.sessions})`;
  const outcomes: Outcome[] = [];
  for (const { n, status, balance, reason, profile } of rows)
    outcomes[n] = {
      status,
      balance: balance ?? undefined,
      reason: reason ?? undefined,
      profile: profile ?? undefined,
    };
  return outcomes;
};

/** What a command names that another of the same batch must not name. */
export const keysOf = (command: Command, scope: Policy['transactionIds']): string[] => {
  const space = idSpaceOf(command, scope);
  const keys: string[] = [];
  if ('transactionId' in command) keys.push(`t${space}\n${command.transactionId}`);
  if ('reverses' in command && command.reverses !== command.transactionId)
    keys.push(`t${space}\n${command.reverses}`);
  // Neither id can hold a control character, so that the two can't run into each other.
  if ('roundId' in command) keys.push(`r${command.playerId}\n${command.roundId}`);
  return keys;
};
