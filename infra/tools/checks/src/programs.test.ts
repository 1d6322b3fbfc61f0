import { spawnSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '../../../..');

/** Processes that `start` and the images run, and parts of `check` and of packing. */
const withoutArguments = /^(?:start|dev|demo|prepare|prepack|generate|.*:check|openapi:released)$/;

/** Every other script of every package that runs a program of ours: its name, its folder and the arguments of node. */
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

/** Programs share most of their modules, and compiling them takes most of the time. */
const env = { PATH: '/usr/bin:/bin', NODE_COMPILE_CACHE: join(root, 'node_modules/.cache/test-processes') };

const run = (cwd: string, args: string[]) => {
  const options = { cwd, encoding: 'utf8', env } as const;
  const { status, stdout, stderr } = spawnSync(process.execPath, args, options);
  return { status, stdout, stderr };
};

test('there are programs', () => {
  expect(programs.length).toBeGreaterThan(25);
});

test.each(programs)('%s answers --help', (_name, cwd, args) => {
  const { status, stdout, stderr } = run(cwd, [...args, '--help']);
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  expect(stdout).toMatch(/\S/);
});

// Vitest reads what the runners of tests do not know.
test.each(programs.filter(([, , args]) => !args.some((arg) => arg.includes('/testing/'))))(
  '%s says in one line that it does not know an option',
  (_name, cwd, args) => {
    const { status, stderr } = run(cwd, [...args, '--no-such-option']);
    expect(status).toBe(2);
    expect(stderr.trim().split('\n')).toHaveLength(1);
  },
);
