import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { SHARED_SETTINGS } from './env.ts';
import { ROOT } from './options.ts';
import { findServices, variablePrefix } from './services.ts';

const OWN_SETTINGS = [
  'GATEWAY_METRICS_PORT',
  'GATEWAY_PORT',
  'PORT_BASE',
  'DATABASE_URL',
  'REDIS_URL',
  'PLATFORM_NO_INSTALL',
];

/** Settings in front of a `start` command in the documentation. */
const documented = (): string[] => {
  const files = execFileSync('git', ['ls-files', '*.md'], { cwd: ROOT, encoding: 'utf8' });
  const texts = files
    .split('\n')
    .filter(Boolean)
    .map((file) => readFileSync(join(ROOT, file), 'utf8'));
  const commands = texts.flatMap(
    (text) => text.match(/(?:[A-Z][A-Z_]+=\S* )+npx -y pnpm@\S+ start\b/g) ?? [],
  );
  return commands.flatMap((command) =>
    [...command.matchAll(/([A-Z][A-Z_]+)=/g)].map(([, name = '']) => name),
  );
};

test('start understands every setting that the documentation puts in front of it', async () => {
  const prefixes = (await findServices(join(ROOT, 'services'))).map(variablePrefix);
  const found = documented();
  expect(found.length).toBeGreaterThan(1);
  const unknown = found.filter(
    (name) =>
      ![...OWN_SETTINGS, ...SHARED_SETTINGS].includes(name) &&
      !prefixes.some((prefix) => name.startsWith(prefix)),
  );
  expect(unknown).toEqual([]);
});
