import { feedEnv } from '@platform/feed';
import { commonEnv, settingsOf, tokenEnv } from '@platform/service-kit/env';

const shape = { ...commonEnv, ...tokenEnv, ...feedEnv };

export const { envOf, processEnv } = settingsOf('placeholder-service', shape);

export type Env = ReturnType<typeof envOf>;
