import type { Command } from '../ledger/command.ts';
import type { Outcome } from '../ledger/state.ts';
import { decimal } from '@platform/wallet-protocol/money';
import type { Status } from '@platform/wallet-protocol/statuses';
import { messageFor } from './messages.ts';

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
  const { status, balance, reason, limit, languageCode } = outcome;
  const message =
    command.operation === 'debit' && status !== 'OK' && reason && messageFor(reason, limit, languageCode);
  return JSON.stringify({
    requestId,
    status,
    balance: balance === undefined ? undefined : decimal(balance),
    ...(command.operation === 'authenticate' ? profileFields(command, outcome) : {}),
    ...(message ? { customUserError: message } : {}),
  });
};
