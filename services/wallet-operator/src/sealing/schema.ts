import { pageLimitBody, pageLimitQuery } from '@platform/pagination/list';
import { Checkpoint } from '@platform/sealed-log/checkpoint';
import { PublicJwk } from '@platform/sealed-log/keys';
import { z } from 'zod';

export const CheckpointList = pageLimitBody('checkpoints', Checkpoint);
export const CheckpointQuery = z.strictObject({
  ...pageLimitQuery,
  sort: z.enum(['number', '-number']).default('number').meta({ description: '`-number`: the newest first' }),
});

export const SealingKeys = z.object({ keys: z.array(PublicJwk) }).meta({ id: 'SealingKeys' });
