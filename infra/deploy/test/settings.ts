import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './service.ts';

const read = (file: string): string => readFileSync(join(root, file), 'utf8');

const namesIn = (text: string): string[] =>
  [...text.matchAll(/^ {2}(?:\/\/.*)?([A-Z][A-Z0-9_]+):/gm)].map(([, name = '']) => name);

/** Variables that a service reads. */
export const settingsOf = (service: string): string[] => {
  const own = read(`services/${service}/src/env.ts`);
  return [
    // OpenTelemetry's SDK reads it itself.
    'OTEL_RESOURCE_ATTRIBUTES',
    ...namesIn(read('packages/service-kit/src/process/env.ts')),
    ...(own.includes('...tokenEnv') ? namesIn(read('packages/service-kit/src/process/token-env.ts')) : []),
    ...(own.includes('...searchEnv')
      ? namesIn(read('packages/service-kit/src/database/search-lane.ts'))
      : []),
    ...(own.includes('...subscriptionEnv')
      ? namesIn(read('packages/outgoing-webhooks/src/subscriptions.ts'))
      : []),
    ...(own.includes('...mailEnv') || own.includes('...subscriptionEnv')
      ? namesIn(read('packages/mail/src/env.ts'))
      : []),
    ...namesIn(own),
  ];
};
