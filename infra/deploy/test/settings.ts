import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './service.ts';

const names = (file: string): string[] =>
  [...readFileSync(join(root, file), 'utf8').matchAll(/^ {2}(?:\/\/.*)?([A-Z][A-Z0-9_]+):/gm)].map(
    ([, name = '']) => name,
  );

/** Variables that a service reads. */
export const settingsOf = (service: string): string[] => [
  // OpenTelemetry's SDK reads it itself.
  'OTEL_RESOURCE_ATTRIBUTES',
  ...names('packages/service-kit/src/process/env.ts'),
  ...names(`services/${service}/src/env.ts`),
];
