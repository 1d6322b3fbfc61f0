import type { Status } from '@platform/wallet-protocol/statuses';
import type { LimitReached, PlayerLimits } from '../limits/domain.ts';
import type { Reason } from './command.ts';

export interface Entry {
  playerId: string;
  operation: 'debit' | 'credit' | 'rollback' | 'deposit' | 'withdrawal' | 'tombstone';
  transactionId: string;
  roundId?: string;
  gameCode?: string;
  /** Signed, minor units. */
  amount: bigint;
  balanceAfter: bigint;
  reverses?: string;
  roundClosed?: boolean;
}

/** The stored state that the decision of one command depends on. */
export interface State {
  player?:
    | {
        balance: bigint;
        currency: string;
        disabled: boolean;
        /** Whether the exclusion holds today. */
        excluded: boolean;
      }
    | undefined;
  gameEnabled: boolean;
  /** The session of the token that was sent. */
  session?: { playerId: string; expired: boolean } | undefined;
  /** The player's round of that id; undefined: never seen. */
  round?: 'open' | 'closed' | undefined;
  /** The entry that has the command's transactionId. */
  known?: Entry | undefined;
  /** The entry that a rollback names. */
  target?: Entry | undefined;
  /** Whether a rollback has reversed the target. */
  targetReversed: boolean;
  /** Undefined: the player has no limits. */
  limits?: PlayerLimits | undefined;
}

export interface Decision {
  status: Status;
  /** The balance of the answer; absent when the answer has none. */
  balance?: bigint;
  reason?: Reason;
  /** The limit that forbids the debit or deposit. */
  limit?: LimitReached;
  /** New entries, in order. */
  entries: Entry[];
  round?: 'open' | 'closed';
}
