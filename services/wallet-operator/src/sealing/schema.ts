import { PublicJwk } from '@platform/sealed-log/keys';
import { z } from 'zod';

export const CheckpointFilter = z.object({
  sort: z.enum(['number', '-number']).default('number').meta({ description: '`-number`: the newest first' }),
});

export const SealingKeys = z.object({ keys: z.array(PublicJwk) }).meta({ id: 'SealingKeys' });
