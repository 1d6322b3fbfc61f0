import { instant } from '@platform/service-kit/text';
import { z } from 'zod';
import { id } from '../ids.ts';

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

export const Launch = z
  .object({
    playerId: z.string(),
    gameCode: z.string(),
    launchUrl: z.string().nullable().meta({ description: 'Where the game is, when the game server says it' }),
    expiresAt: instant().meta({ description: 'End of our session' }),
    gameServer: z.record(z.string(), z.unknown()).meta({ description: 'What the game server answered' }),
  })
  .meta({ id: 'Launch' });

export const CurrencyList = z
  .object({
    currencies: z.array(z.string()),
    fetchedAt: instant(),
    stale: z.boolean().meta({ description: 'The game server is away; this is the last good copy' }),
  })
  .meta({ id: 'CurrencyList' });
