import { spawnSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '../../../..');

/** Scripts that take no arguments: run by `start` and the images, or parts of `check` and of packing. */
const withoutArguments = /^(?:start|dev|demo|prepare|prepack|generate|.*:check|openapi:released)$/;

/** All other scripts that run a program of the repository: name, folder and the arguments of node. */
const programs = globSync('{.,services/*,packages/*,infra/*,infra/tools/*}/package.json', {
  cwd: root,
}).flatMap((file) => {
  const { name, scripts = {} } = JSON.parse(readFileSync(join(root, file), 'utf8')) as {
    name: string;
    scripts?: Record<string, string>;
  };
  return Object.entries(scripts).flatMap(([script, command]): [string, string, string[]][] => {
    const args = /^node (.*\.ts.*)$/.exec(command)?.[1]?.split(' ');
    return args === undefined || withoutArguments.test(script)
      ? []
      : [[`${name} ${script}`, join(root, dirname(file)), args]];
  });
});

/** The compile cache saves most of the time, because the programs share most modules. */
const env = { PATH: '/usr/bin:/bin', NODE_COMPILE_CACHE: join(root, 'node_modules/.cache/test-processes') };

const run = (cwd: string, args: string[]) => {
  const options = { cwd, encoding: 'utf8', env } as const;
  const { status, stdout, stderr } = spawnSync(process.execPath, args, options);
  return { status, stdout, stderr };
};

test('the scripts of programs are found', () => {
  expect(programs.length).toBeGreaterThan(25);
});

test.each(programs)('%s answers --help', (_name, cwd, args) => {
  const { status, stdout, stderr } = run(cwd, [...args, '--help']);
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  expect(stdout).toMatch(/\S/);
});

// The test runners in testing/ pass unknown options on to Vitest.
test.each(programs.filter(([, , args]) => !args.some((arg) => arg.includes('/testing/'))))(
  '%s rejects an unknown option with one line',
  (_name, cwd, args) => {
    const { status, stderr } = run(cwd, [...args, '--no-such-option']);
    expect(status).toBe(2);
    expect(stderr.trim().split('\n')).toHaveLength(1);
  },
);
