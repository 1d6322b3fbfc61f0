import type { Status } from '@platform/wallet-protocol/callbacks';
import type { LimitReached, PlayerLimits } from '../limits/domain.ts';
import type { Reason } from './command.ts';
import type { Entry } from './entry.ts';

/** A session of a launch. */
export interface Session {
  playerId: string;
  gameCode: string;
  expired: boolean;
  /** Its end after an accepted call, as an ISO 8601 time, where that has to be written. */
  laterEnd?: string | null;
}

export interface Player {
  balance: bigint;
  /** Number of the newest entry. */
  seq: bigint;
  currency: string;
  disabled: boolean;
  /** Whether the exclusion holds today. */
  excluded: boolean;
}

/** The stored state that the decision of one command depends on; null: there is none. */
export interface State {
  player: Player | null;
  /** The time of the decision, which is never before that of an earlier one about the player. */
  clock: Date;
  /** What answers say about the player. */
  profile: Profile | null;
  gameEnabled: boolean;
  /** The session of the token that was sent. */
  session: Session | null;
  /** The player's round of that id. */
  round: 'open' | 'closed' | null;
  /** Whether a win opened the round, and no bet has followed. */
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

/** What the rules decide about one command. */
export interface Decision {
  status: Status;
  /** The balance of the answer; absent when the answer has none. */
  balance?: bigint | undefined;
  reason?: Reason | undefined;
  /** The limit that forbids the debit or deposit. */
  limit?: LimitReached | undefined;
  /** New entries, in order. */
  entries: Entry[];
  round?: 'open' | 'closed';
}

/** A command for which its batch wrote nothing: it needs a decision, or another transaction holds its player. */
export const leftOver = 'left over';

/** What a batch says about one of its commands. */
export type BatchOutcome = Outcome | typeof leftOver;

/** The result of one command. */
export interface Outcome extends Pick<Decision, 'status' | 'reason' | 'limit'> {
  /** Minor units as digits, because int64 does not fit a JavaScript number; absent where no balance is answered. */
  balance?: string | undefined;
  /** ISO 639-1, where the answer to a refused debit has a text for the player. */
  languageCode?: string | null | undefined;
  /** What `authenticate` answers about the player, when its status is OK. */
  profile?: Profile | null | undefined;
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
