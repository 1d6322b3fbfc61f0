import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { SHARED_SETTINGS } from './env.ts';
import { ROOT } from './options.ts';
import { findServices, variablePrefix } from './services.ts';

const START_SETTINGS = [
  'GATEWAY_METRICS_PORT',
  'GATEWAY_PORT',
  'PORT_BASE',
  'DATABASE_URL',
  'REDIS_URL',
  'PLATFORM_NO_INSTALL',
];

/** Names of the settings that precede a `start` command in the documentation. */
const documentedSettings = (): string[] => {
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

test('start knows every setting that the documentation sets for it', async () => {
  const prefixes = (await findServices(join(ROOT, 'services'))).map(variablePrefix);
  const documented = documentedSettings();
  expect(documented.length).toBeGreaterThan(1);
  const unknown = documented.filter(
    (name) =>
      ![...START_SETTINGS, ...SHARED_SETTINGS].includes(name) &&
      !prefixes.some((prefix) => name.startsWith(prefix)),
  );
  expect(unknown).toEqual([]);
});
