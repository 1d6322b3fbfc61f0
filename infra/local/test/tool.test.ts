import { spawnSync } from 'node:child_process';
import { appendFile, cp, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { baseEnv } from '../src/env.ts';
import { run as runProgram } from '../src/spawn.ts';
import { fixtures, newLocalFolder, removeFolder, startStack, type TestStack } from './stack.ts';
import { platformPorts } from '../src/testing/platform.ts';

let platform: TestStack;
let services: string;

const toolFile = join(import.meta.dirname, '../src/tool.ts');
const runTool = (...args: string[]) =>
  runProgram(process.execPath, [toolFile, ...args, '--local', platform.local], { env: baseEnv() });
const urlOf = async (name: string): Promise<string> => (await platform.stack()).services[name]?.url ?? '';
const pidOf = async (name: string) => (await platform.stack()).services[name]?.pid;
const hasPsql = spawnSync('psql', ['--version']).status === 0;

beforeAll(async () => {
  const local = await newLocalFolder();
  // In the repository, because the services import packages.
  services = join(import.meta.dirname, `fixtures/watched-${process.pid}`);
  await cp(fixtures, services, { recursive: true });
  await mkdir(join(services, 'alpha-notes/migrations'));
  platform = startStack(local, await platformPorts(), '--watch', '--services', services);
  await platform.ready();
});

afterAll(async () => {
  platform.signal('SIGTERM');
  await platform.ended;
  await Promise.all([removeFolder(platform.local), removeFolder(services)]);
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

test('dev prints the error of changed code, and restarts the service when the code is corrected', async () => {
  const broken = join(services, 'beta-counter/src/broken.ts');
  const main = join(services, 'beta-counter/src/main.ts');
  await writeFile(broken, '');
  await appendFile(main, "\nawait import('./broken.ts');\n");
  await writeFile(broken, "throw new Error('a mistake');\n");
  await expect.poll(platform.printed).toContain('a mistake');
  await writeFile(broken, '');
  const ready = async () => (await fetch(`${await urlOf('beta-counter')}/readyz`)).status;
  await expect.poll(ready).toBe(200);
});

test('dev reports that a new migration needs a new start, also when the service restarts', async () => {
  const notices = () => platform.printed().split('The migrations of alpha-notes changed').length - 1;
  await writeFile(join(services, 'alpha-notes/migrations/0001_new.sql'), 'select 1;');
  await expect.poll(notices).toBe(1);
  await writeFile(join(services, 'alpha-notes/src/changed.ts'), '');
  await expect.poll(notices).toBe(2);
});

test('restart waits until a new process of the service is ready', async () => {
  const before = await pidOf('alpha-notes');
  expect((await runTool('restart', 'alpha-notes')).output).toBe('alpha-notes is ready again\n');
  expect(await pidOf('alpha-notes')).not.toBeOneOf([before, null]);
});

test('logs prints the end of a log', async () => {
  await appendFile(join(platform.local, 'logs/alpha-notes.log'), 'first line\nlast line\n');
  expect((await runTool('logs', 'alpha-notes', '--lines', '1')).output).toBe('last line\n');
});

test('logs gateway prints all logs of the gateway, and the error for an unknown log lists the log names', async () => {
  for (const name of ['access', 'error'])
    await appendFile(join(platform.local, `logs/gateway/${name}.log`), `from ${name}\n`);
  const { output } = await runTool('logs', 'gateway', '--lines', '1');
  expect(output).toMatch(/from access\n[^]*from error\n/);
  const unknown = await runTool('logs', 'gamma');
  expect(unknown.code).toBe(1);
  expect(unknown.output).toMatch(
    /^there is no log "gamma"; the logs are alpha-notes, beta-counter,.* postgres/,
  );
});

test.runIf(hasPsql)('psql runs a statement in the database of a service, with its role', async () => {
  const { stdout } = await runTool('psql', 'alpha-notes', 'select current_user');
  expect(stdout).toContain('alpha_notes');
});

test('debug opens a port to which a debugger can attach', async () => {
  const { stdout } = await runTool('debug', 'alpha-notes');
  const [address] = /127\.0\.0\.1:\d+/.exec(stdout) ?? [];
  const targets = (await (await fetch(`http://${address}/json/list`)).json()) as { url: string }[];
  expect(targets[0]?.url).toContain('/alpha-notes/src/main.ts');
});

test('the error names an unknown option', async () => {
  const { code, output } = await runTool('logs', 'alpha-notes', '--colour');
  expect(code).toBe(2);
  expect(output).toMatch(/^Unknown option '--colour'/);
});

test('the error names an unknown service, or the folder if no platform runs there', async () => {
  const unknown = await runTool('restart', 'gamma');
  expect(unknown.code).toBe(1);
  expect(unknown.output).toBe('there is no service "gamma"; the services are alpha-notes, beta-counter\n');
  const args = [toolFile, 'psql', 'alpha-notes', '--local', '/nowhere'];
  const notRunning = await runProgram(process.execPath, args);
  expect(notRunning.output).toBe('no platform runs in /nowhere; start it with: npx -y pnpm@10.34.9 start\n');
});
