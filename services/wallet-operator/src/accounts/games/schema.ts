import { pageLimitBody, pageLimitQuery } from '@platform/pagination/list';
import { instant, text } from '@platform/service-kit/text';
import { z } from 'zod';
import { addressableId, id } from '@platform/wallet-protocol/ids';

const name = text(1, 200);

export const NewGame = z
  .strictObject({ gameCode: addressableId, name, enabled: z.boolean().default(true) })
  .meta({ id: 'NewGame' });
export const GameChange = z
  .strictObject({ name: name.optional(), enabled: z.boolean().optional() })
  .meta({ id: 'GameChange' });
export const Game = z
  .object({ gameCode: z.string(), name: z.string(), enabled: z.boolean(), createdAt: instant() })
  .meta({ id: 'Game' });
export const GamePath = z.object({ gameCode: id.meta({ example: 'dice-alpha' }) });
export const GameQuery = z.strictObject(pageLimitQuery);
export const GameList = pageLimitBody('games', Game);
