import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { validate } from 'dockerfile-utils';
import { describe, expect, test } from 'vitest';
import { root } from './service.ts';

const read = (file: string): string => readFileSync(join(root, file), 'utf8');
const dockerfile = read('infra/deploy/Dockerfile');

// What the images contain, and how they run, is checked by the rehearsal (infra/tools/rehearsal).
describe('the Dockerfile', () => {
  test('is valid', () => {
    expect(validate(dockerfile).map(({ message }) => message)).toEqual([]);
  });

  test('has the tools in the versions of the repository', () => {
    const { packageManager } = JSON.parse(read('package.json')) as { packageManager: string };
    const turbo = /^ {2}turbo: (.+)$/m.exec(read('pnpm-workspace.yaml'))?.[1];
    expect(dockerfile).toContain(`${packageManager} turbo@${turbo}\n`);
    expect(dockerfile).toContain('node:24-');
  });
});

test('the build context leaves out everything that is not named, and tests and secrets everywhere', () => {
  const rules = read('infra/deploy/Dockerfile.dockerignore')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'));
  const [first, ...others] = rules;
  expect(first).toBe('*');
  const lastNamed = others.findLastIndex((rule) => rule.startsWith('!'));
  const everywhere = ['**/node_modules', '**/test', '**/*.test.ts', '**/.env*', '**/*.pem', '**/prepared'];
  for (const rule of everywhere) expect([rule, others.indexOf(rule) > lastNamed]).toEqual([rule, true]);
});
