import type { Status } from '@platform/wallet-protocol/callbacks';
import type { LimitReached, PlayerLimits } from '../limits/domain.ts';
import type { Reason } from './command.ts';
import type { Entry } from './entry.ts';

/** A session of a launch. */
export interface Session {
  playerId: string;
  gameCode: string;
  expired: boolean;
  /** The new end if the callback is accepted, as ISO 8601; null when the end need not change. */
  laterEnd?: string | null;
}

export interface Player {
  balance: bigint;
  /** Sequence number of the newest entry. */
  seq: bigint;
  currency: string;
  disabled: boolean;
  /** Whether the player is excluded now. */
  excluded: boolean;
}

/** The stored state that the decision about one command depends on; null values do not exist. */
export interface State {
  player: Player | null;
  /** The time of the decision; never before that of an earlier decision about the player. */
  clock: Date;
  profile: Profile | null;
  gameEnabled: boolean;
  /** The session of the sent token. */
  session: Session | null;
  /** The player's round of that id. */
  round: 'open' | 'closed' | null;
  /** Whether a win opened the round and no bet has followed. */
  isPromotional: boolean;
  /** The entry that has the command's transactionId. */
  known: Entry | null;
  /** The entry that a rollback names. */
  target: Entry | null;
  /** Whether a rollback has reversed the target. */
  targetReversed: boolean;
  /** Whether debits and credits of the player are counted for limits. */
  isCounted: boolean;
  /** Undefined: the player has no limits. */
  limits?: PlayerLimits | undefined;
}

/** The decision of the rules about one command. */
export interface Decision {
  status: Status;
  /** The balance of the answer; undefined when the answer has none. */
  balance?: bigint | undefined;
  reason?: Reason | undefined;
  /** The limit that forbids the debit or deposit. */
  limit?: LimitReached | undefined;
  /** New entries, in order. */
  entries: Entry[];
  round?: 'open' | 'closed';
}

/** A batch wrote nothing for the command, which needs a decision of domain.ts, or whose player another transaction has locked. */
export const leftOver = 'left over';

/** The result of a batch for one of its commands. */
export type BatchOutcome = Outcome | typeof leftOver;

/** The result of one command. */
export interface Outcome extends Pick<Decision, 'status' | 'reason' | 'limit'> {
  /** Minor units as text, because JavaScript numbers are exact only to 2^53; undefined when the answer has no balance. */
  balance?: string | undefined;
  /** ISO 639-1, for the message to the player about a refused debit. */
  languageCode?: string | null | undefined;
  /** Only of an accepted `authenticate`. */
  profile?: Profile | null | undefined;
}

/** The data about a player in the answer to `authenticate`. */
export interface Profile {
  name: string | null;
  countryCode: string | null;
  languageCode: string | null;
  birthDate: string | null;
  registrationDate: string;
  address: string | null;
  excludedUntil: string | null;
}
