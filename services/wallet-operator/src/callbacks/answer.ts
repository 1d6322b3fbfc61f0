import type { Command, Reason, Status } from '../ledger/command.ts';
import type { Outcome } from '../ledger/outcome.ts';
import { decimal } from '../money.ts';

/** Messages for the player when a bet is refused (`customUserError`). */
const playerMessages: Partial<Record<Reason, string>> = {
  no_money: 'Your balance is too low for this bet.',
  round_closed: 'This round is over.',
  player_disabled: 'Your account is locked.',
  player_excluded: 'You have excluded yourself from playing.',
  session_expired: 'Your session has ended. Please start the game again.',
};

export const refusal = (requestId: string, status: Status): string => JSON.stringify({ requestId, status });

const profileFields = (
  command: Command & { operation: 'authenticate' },
  { profile, reason }: Outcome,
): Record<string, unknown> => {
  if (profile === undefined) return {};
  const { excludedUntil, ...known } = profile;
  const excluded = reason === 'player_excluded';
  return {
    accountCurrency: command.currency,
    ...Object.fromEntries(Object.entries(known).filter(([, value]) => value !== null)),
    excluded,
    ...(excluded && excludedUntil !== null ? { excludedUntil } : {}),
  };
};

/** The body of a decided callback. */
export const answerOf = (requestId: string, command: Command, outcome: Outcome): string => {
  const { status, balance, reason } = outcome;
  const message = command.operation === 'debit' && status !== 'OK' && reason && playerMessages[reason];
  return JSON.stringify({
    requestId,
    status,
    balance: balance === undefined ? undefined : decimal(balance),
    ...(command.operation === 'authenticate' ? profileFields(command, outcome) : {}),
    ...(message ? { customUserError: message } : {}),
  });
};
