import { instant } from '@platform/service-kit/text';
import { z } from 'zod';
import { id } from '@platform/wallet-protocol/ids';

export const NewLaunch = z
  .strictObject({
    playerId: id,
    gameCode: id,
    countryCode: z
      .string()
      .regex(/^[A-Z]{2}(-[A-Z0-9]{1,3})?$/, 'must be ISO 3166-1 alpha-2 or ISO 3166-2')
      .optional()
      .meta({ description: "The player's own where it is left out" }),
  })
  .meta({ id: 'NewLaunch' });

const shape = {
  launchId: z.uuid(),
  playerId: z.string(),
  gameCode: z.string(),
  createdAt: instant(),
  expiresAt: instant().meta({ description: 'End of our session' }),
};

export const Launch = z
  .object({
    ...shape,
    launchUrl: z.string().nullable().meta({ description: 'Where the game is, when the game server says it' }),
    gameServer: z.record(z.string(), z.unknown()).meta({ description: 'What the game server answered' }),
  })
  .meta({ id: 'Launch' });

export const LaunchRecord = z.object(shape).meta({
  id: 'LaunchRecord',
  description: 'Without what opens the game: that is in the answer of POST only',
});

export const LaunchPath = z.object({ launchId: z.uuid() });

export const CurrencyList = z
  .object({
    currencies: z.array(z.string()),
    fetchedAt: instant(),
    stale: z.boolean().meta({ description: 'The game server is away; this is the last good copy' }),
  })
  .meta({ id: 'CurrencyList' });
