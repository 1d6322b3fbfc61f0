import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { validate } from 'dockerfile-utils';
import { describe, expect, test } from 'vitest';
import { root } from './service.ts';

const read = (file: string): string => readFileSync(join(root, file), 'utf8');
const dockerfile = read('infra/deploy/Dockerfile');

// The rehearsal (infra/tools/rehearsal) checks the content and behaviour of the images.
describe('the Dockerfile', () => {
  test('is valid', () => {
    expect(validate(dockerfile).map(({ message }) => message)).toEqual([]);
  });

  test('installs the same tool versions as the repository', () => {
    const { packageManager } = JSON.parse(read('package.json')) as { packageManager: string };
    const turbo = /^ {2}turbo: (.+)$/m.exec(read('pnpm-workspace.yaml'))?.[1];
    expect(dockerfile).toContain(`${packageManager} turbo@${turbo}\n`);
    expect(dockerfile).toContain('node:24-');
  });
});

test('the build context contains only named files, and never tests and secrets', () => {
  const rules = read('infra/deploy/Dockerfile.dockerignore')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'));
  const [first, ...others] = rules;
  expect(first).toBe('*');
  const lastIncluded = others.findLastIndex((rule) => rule.startsWith('!'));
  const excluded = ['**/node_modules', '**/test', '**/*.test.ts', '**/.env*', '**/*.pem', '**/prepared'];
  for (const rule of excluded) expect([rule, others.indexOf(rule) > lastIncluded]).toEqual([rule, true]);
});
