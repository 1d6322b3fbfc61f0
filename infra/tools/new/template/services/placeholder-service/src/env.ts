import { feedEnv } from '@platform/feed';
import { commonEnv, defineEnv, tokenEnv } from '@platform/service-kit/env';

const shape = { ...commonEnv, ...tokenEnv, ...feedEnv };

export const { parseEnv, processEnv } = defineEnv('placeholder-service', shape);

export type Env = ReturnType<typeof parseEnv>;
