import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { localStack } from './local-stack.ts';

const source = (work: string): string => `
  import { parseArgs } from 'node:util';
  import { runProgram, UsageError } from ${JSON.stringify(join(import.meta.dirname, 'program.ts'))};
  await runProgram('greet NAME: greets', async (args) => { ${work} });`;

const run = (work: string, ...args: string[]) => {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ['--input-type=module', '-e', source(work), 'greet', ...args],
    { encoding: 'utf8' },
  );
  return { status, stdout, stderr };
};

test('--help prints the usage and does nothing else', () => {
  for (const option of ['--help', '-h'])
    expect(run('throw new Error("ran")', option)).toEqual({
      status: 0,
      stdout: 'greet NAME: greets\n',
      stderr: '',
    });
});

test('wrong arguments print one line that names them, and exit with code 2', () => {
  const parse = 'parseArgs({ args, options: { loud: { type: "boolean" } } })';
  expect(run(parse, '--lout')).toEqual({
    status: 2,
    stdout: '',
    stderr: "Unknown option '--lout'. --help says more.\n",
  });
  expect(run('throw new UsageError("NAME is needed")').stderr).toBe('NAME is needed. --help says more.\n');
});

test('an error prints one line with its causes, without a stack trace, and exits with code 1', () => {
  expect(run('throw new Error("cannot greet", { cause: new Error("nobody is there") })')).toEqual({
    status: 1,
    stdout: '',
    stderr: 'cannot greet: nobody is there\n',
  });
  expect(run('throw new AggregateError([], "")').stderr).toBe('AggregateError\n');
});

test('the work returns the exit code, and terminal control characters are escaped', () => {
  expect(run('return 7').status).toBe(7);
  expect(run('throw new Error("\\u001b[2J")').stderr).toBe('\\u{1b}[2J\n');
});

test('the local platform is found from every folder below it', () => {
  const root = mkdtempSync(join(tmpdir(), 'stack-'));
  const below = join(root, 'services/wallet-operator');
  mkdirSync(below, { recursive: true });
  mkdirSync(join(root, '.local'));
  try {
    expect(localStack(below)).toBeUndefined();
    writeFileSync(join(root, '.local/stack.json'), '{"gateway":"http://127.0.0.1:1","services":{}}');
    expect(localStack(below)?.gateway).toBe('http://127.0.0.1:1');
    expect(localStack(root)?.gateway).toBe('http://127.0.0.1:1');
  } finally {
    rmSync(root, { recursive: true });
  }
});
