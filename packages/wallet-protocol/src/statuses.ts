/** The statuses of answers. Source: docs/contracts/wallet-operator.md. */
export const statuses = [
  'OK',
  'ERROR_NOT_ENOUGH_MONEY',
  'ERROR_PLAYER_DISABLED',
  'ERROR_INVALID_SESSION',
  'ERROR_SESSION_EXPIRED',
  'ERROR_INVALID_GAME',
  'ERROR_WRONG_CURRENCY',
  'ERROR_DUPLICATE_TRANSACTION',
  'ERROR_TRANSACTION_DOES_NOT_EXIST',
  'ERROR_INVALID_SIGNATURE',
  'ERROR_WRONG_SYNTAX',
  'ERROR_UNKNOWN',
] as const;

export type Status = (typeof statuses)[number];
