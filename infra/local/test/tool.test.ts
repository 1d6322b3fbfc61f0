import { spawnSync } from 'node:child_process';
import { appendFile, cp, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { baseEnv } from '../src/env.ts';
import { run as runProgram } from '../src/spawn.ts';
import { fixtures, newLocalFolder, removeFolder, startStack, type StackRun } from './stack.ts';
import { platformPorts } from '../src/testing/platform.ts';

let run: StackRun;
let services: string;

const tool = (...args: string[]) =>
  runProgram(process.execPath, [join(import.meta.dirname, '../src/tool.ts'), ...args, '--local', run.local], {
    env: baseEnv(),
  });
const urlOf = async (name: string): Promise<string> => (await run.stack()).services[name]?.url ?? '';
const pidOf = async (name: string) => (await run.stack()).services[name]?.pid;
const hasPsql = spawnSync('psql', ['--version']).status === 0;

beforeAll(async () => {
  const local = await newLocalFolder();
  // Below this folder, because the services import packages.
  services = join(import.meta.dirname, `fixtures/watched-${process.pid}`);
  await cp(fixtures, services, { recursive: true });
  await mkdir(join(services, 'alpha-notes/migrations'));
  run = startStack(local, await platformPorts(), '--watch', '--services', services);
  await run.ready();
});

afterAll(async () => {
  run.signal('SIGTERM');
  await run.ended;
  await Promise.all([removeFolder(run.local), removeFolder(services)]);
});

test('dev restarts the service whose code changed, and no other', async () => {
  const [alpha, beta] = [await pidOf('alpha-notes'), await pidOf('beta-counter')];
  const main = join(services, 'alpha-notes/src/main.ts');
  await appendFile(
    main,
    "\nservers[0].prependListener('request', (_, response) => response.setHeader('X-New', '1'));\n",
  );
  const changed = async () => (await fetch(await urlOf('alpha-notes'))).headers.get('X-New');
  await expect.poll(changed).toBe('1');
  await expect.poll(() => pidOf('alpha-notes')).not.toBeOneOf([alpha, null]);
  expect(await pidOf('beta-counter')).toBe(beta);
});

test('dev shows the error of changed code, and runs the service again when it is corrected', async () => {
  const broken = join(services, 'beta-counter/src/broken.ts');
  const main = join(services, 'beta-counter/src/main.ts');
  await writeFile(broken, '');
  await appendFile(main, "\nawait import('./broken.ts');\n");
  await writeFile(broken, "throw new Error('a mistake');\n");
  await expect.poll(run.printed).toContain('a mistake');
  await writeFile(broken, '');
  const ready = async () => (await fetch(`${await urlOf('beta-counter')}/readyz`)).status;
  await expect.poll(ready).toBe(200);
});

test('dev says that a new migration needs another start, also when the service restarts', async () => {
  const notices = () => run.printed().split('The migrations of alpha-notes changed').length - 1;
  await writeFile(join(services, 'alpha-notes/migrations/0001_new.sql'), 'select 1;');
  await expect.poll(notices).toBe(1);
  await writeFile(join(services, 'alpha-notes/src/changed.ts'), '');
  await expect.poll(notices).toBe(2);
});

test('restart waits until another process of the service is ready', async () => {
  const before = await pidOf('alpha-notes');
  expect((await tool('restart', 'alpha-notes')).output).toBe('alpha-notes is ready again\n');
  expect(await pidOf('alpha-notes')).not.toBeOneOf([before, null]);
});

test('logs prints the end of a log', async () => {
  await appendFile(join(run.local, 'logs/alpha-notes.log'), 'first line\nlast line\n');
  expect((await tool('logs', 'alpha-notes', '--lines', '1')).output).toBe('last line\n');
});

test('logs gateway prints all logs of the gateway, and a log that does not exist is answered with the names', async () => {
  for (const name of ['access', 'error'])
    await appendFile(join(run.local, `logs/gateway/${name}.log`), `from ${name}\n`);
  const { output } = await tool('logs', 'gateway', '--lines', '1');
  expect(output).toMatch(/from access\n[^]*from error\n/);
  const unknown = await tool('logs', 'gamma');
  expect(unknown.code).toBe(1);
  expect(unknown.output).toMatch(
    /^there is no log "gamma"; the logs are alpha-notes, beta-counter,.* postgres/,
  );
});

test.runIf(hasPsql)('psql runs a statement in the database of a service, with its role', async () => {
  const { stdout } = await tool('psql', 'alpha-notes', 'select current_user');
  expect(stdout).toContain('alpha_notes');
});

test('debug opens a port to which a debugger can attach', async () => {
  const { stdout } = await tool('debug', 'alpha-notes');
  const [address] = /127\.0\.0\.1:\d+/.exec(stdout) ?? [];
  const targets = (await (await fetch(`http://${address}/json/list`)).json()) as { url: string }[];
  expect(targets[0]?.url).toContain('/alpha-notes/src/main.ts');
});

test('an unknown option is named', async () => {
  const { code, output } = await tool('logs', 'alpha-notes', '--colour');
  expect(code).toBe(2);
  expect(output).toMatch(/^Unknown option '--colour'/);
});

test('an unknown service and a platform that does not run are named', async () => {
  const unknown = await tool('restart', 'gamma');
  expect(unknown.code).toBe(1);
  expect(unknown.output).toBe('there is no service "gamma"; the services are alpha-notes, beta-counter\n');
  const elsewhere = await runProgram(process.execPath, [
    join(import.meta.dirname, '../src/tool.ts'),
    'psql',
    'alpha-notes',
    '--local',
    '/nowhere',
  ]);
  expect(elsewhere.output).toBe('no platform runs in /nowhere; start it with: npx -y pnpm@10.34.9 start\n');
});
