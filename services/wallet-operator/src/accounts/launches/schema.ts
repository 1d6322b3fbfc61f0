import { instant } from '@platform/service-kit/text';
import { z } from 'zod';
import { id } from '@platform/wallet-protocol/ids';
import { timeRange } from '../../list-route.ts';
import { expiresAt } from '../sessions.ts';

export const NewLaunch = z
  .strictObject({
    playerId: id,
    gameCode: id,
    countryCode: z
      .string()
      .regex(/^[A-Z]{2}(-[A-Z0-9]{1,3})?$/, 'must be ISO 3166-1 alpha-2 or ISO 3166-2')
      .optional()
      .meta({ description: "Default: the player's country" }),
  })
  .meta({ id: 'NewLaunch' });

export const LaunchOutcome = z.enum([
  'started',
  'launched',
  'not_found',
  'player_disabled',
  'player_self_excluded',
  'game_disabled',
  'country_unknown',
  'no_game_server',
  'game_server_refused',
  'game_server_unavailable',
]);
export type LaunchOutcome = z.output<typeof LaunchOutcome>;

const shape = {
  launchId: z.uuid(),
  playerId: z.string(),
  gameCode: z.string(),
  createdAt: instant(),
};

export const Launch = z
  .object({
    ...shape,
    expiresAt,
    launchUrl: z
      .string()
      .nullable()
      .meta({ description: 'Address of the game, if the game server returns one' }),
    gameServer: z.record(z.string(), z.unknown()).meta({ description: 'The answer of the game server' }),
  })
  .meta({ id: 'Launch' });

export const LaunchRecord = z
  .object({
    ...shape,
    launchedBy: z.string().meta({ description: 'Subject of the access token' }),
    outcome: LaunchOutcome.meta({
      description: '`started` until the game server answers; then `launched`, or the problem code',
    }),
  })
  .meta({
    id: 'LaunchRecord',
    description: 'Without `launchUrl` and `gameServer`, which only the answer to POST contains',
  });

export const LaunchPath = z.object({ launchId: z.uuid() });
export const LaunchFilter = z.object({
  playerId: id.optional(),
  gameCode: id.optional(),
  outcome: LaunchOutcome.optional().meta({ description: 'Launches with this outcome' }),
  ...timeRange,
});
