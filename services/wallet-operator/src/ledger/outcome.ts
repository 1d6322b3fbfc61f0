import type { Status } from '@platform/wallet-protocol/statuses';
import type { LimitReached } from '../limits/domain.ts';
import type { Reason } from './command.ts';

/** The result of one command. */
export interface Outcome {
  status: Status;
  /** Minor units as digits, because int64 does not fit a JavaScript number; absent where no balance is answered. */
  balance?: string | undefined;
  reason?: Reason | undefined;
  /** The limit that forbids the debit or deposit. */
  limit?: LimitReached | undefined;
  /** ISO 639-1, where the answer to a refused debit has a text for the player. */
  languageCode?: string | null | undefined;
  /** What `authenticate` answers about the player, when its status is OK. */
  profile?: Profile | undefined;
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
