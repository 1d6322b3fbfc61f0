import type { Policy } from './command.ts';

/**
 * Where the transaction id of a command is unique. Two entries with one transaction id may exist in two spaces.
 * - `operator`: ids of deposits and withdrawals, which the operator chooses
 * - `game`: ids of the game server, when they are unique over all players
 * - `player/<id>`: ids of the game server, when they are unique for each player only
 */
export const idSpaceOf = (
  { operation, playerId }: { operation: string; playerId: string },
  scope: Policy['transactionIds'],
): string => {
  if (operation === 'deposit' || operation === 'withdrawal') return 'operator';
  return scope === 'global' ? 'game' : `player/${playerId}`;
};
