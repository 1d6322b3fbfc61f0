import { spawn } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { parse } from 'yaml';
import { createSupervisor } from '../src/supervisor.ts';
import { baseEnv } from '../src/env.ts';
import { exists } from '../src/local-folder.ts';
import { readOptions } from '../src/options.ts';
import { run } from '../src/spawn.ts';
import { bringUp, prepare } from '../src/bring-up.ts';
import { newLocalFolder, removeFolder, startStack } from './stack.ts';
import { platformPorts } from '../src/testing/platform.ts';

const fixtures = join(import.meta.dirname, 'fixtures/services');
const startScript = join(import.meta.dirname, '../src/start.ts');

let local: string;
beforeEach(async () => {
  local = await newLocalFolder();
  const folder = local;
  onTestFinished(() => removeFolder(folder));
});

/** Creates a services folder with one service that consists of these files. */
const createService = async (files: Record<string, string>): Promise<string> => {
  const folder = join(local, 'services');
  await mkdir(join(folder, 'lone-service/src'), { recursive: true });
  const allFiles = { 'package.json': '{"name": "lone-service", "type": "module"}', ...files };
  const listed = parse(await readFile(join(fixtures, '../services.yaml'), 'utf8')) as Record<string, object>;
  const list = { 'lone-service': { ...listed['beta-counter'], standIn: undefined } };
  await writeFile(join(local, 'services.yaml'), JSON.stringify(list));
  for (const [name, text] of Object.entries(allFiles))
    await writeFile(join(folder, 'lone-service', name), text);
  return folder;
};

/** Processes whose command line contains the folder. */
const processesIn = async (folder: string): Promise<string[]> => {
  const { stdout } = await run('ps', ['-eo', 'args']);
  return stdout.split('\n').filter((line) => line.includes(folder));
};

test('if a service does not become ready, the start fails with the end of its log and no program keeps running', async () => {
  const services = await createService({ 'src/main.ts': 'throw new Error("QUEST_COLOUR is missing");' });
  const start = startStack(local, await platformPorts(), '--services', services);
  expect(await start.ended).toEqual({ code: 1, signal: null });
  expect(start.printed()).toMatch(/lone-service ended 5 times.*QUEST_COLOUR is missing/s);
  expect(await processesIn(local)).toEqual([]);
});

/** Fails with a stack trace and fields as long as those of the database client. */
const deepError = `
  Error.stackTraceLimit = 30;
  const fail = (depth) => {
    if (depth > 0) fail(depth - 1);
    throw Object.assign(new Error('no such row'), { severity: 'ERROR', code: '42703', routine: 'errorMissingColumn' });
  };
  fail(30);`;

test.each([
  ['migrate', 'throw new Error("no such column");', /migrate of lone-service failed:.*no such column/s],
  ['migrate', deepError, /migrate of lone-service failed:.*no such row/s],
  ['demo', 'console.log("hello");', /demo of lone-service must print one JSON object/],
])('a failing %s ends the start and its reason is printed', async (task, text, reason) => {
  const services = await createService({ 'src/main.ts': '', [`src/${task}.ts`]: text });
  const start = startStack(local, await platformPorts(), '--services', services);
  expect(await start.ended).toEqual({ code: 1, signal: null });
  expect(start.printed()).toMatch(reason);
});

test('the reason of a failing demo is printed, but not the credentials from its output', async () => {
  const demo = 'console.log(process.env.DEMO_ADMIN_TOKEN); throw new Error("no such shop");';
  const services = await createService({ 'src/main.ts': '', 'src/demo.ts': demo });
  const start = startStack(local, await platformPorts(), '--services', services);
  await start.ended;
  expect(start.printed()).toContain('no such shop');
  expect(start.printed()).not.toContain('eyJ');
});

test('Ctrl-C during the start stops the programs that already run', async () => {
  const services = await createService({
    'src/main.ts': '',
    'src/migrate.ts': 'setInterval(() => {}, 1000);',
  });
  const start = startStack(local, await platformPorts(), '--services', services);
  await expect.poll(start.printed).toContain('PostgreSQL is ready');
  start.signal('SIGINT');
  expect(await start.ended).toEqual({ code: 0, signal: null });
  expect(await processesIn(local)).toEqual([]);
  expect(await exists(join(local, 'stack.json'))).toBe(false);
});

test('a second Ctrl-C kills programs that ignore the first one', async () => {
  const stubborn = `
    import { createServer } from 'node:http';
    for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => {});
    for (const port of [process.env.PORT, process.env.PROBE_PORT])
      createServer((_, response) => response.end()).listen(Number(port), '127.0.0.1');`;
  const services = await createService({ 'src/main.ts': stubborn });
  const start = startStack(local, await platformPorts(), '--services', services);
  await start.ready();
  start.signal('SIGINT');
  await expect.poll(start.printed).toContain('SIGINT: stopping');
  const repeatSignal = (): string => {
    // Send no further signal: Node.js does not handle signals while it exits.
    if (!start.printed().includes('Killing the remaining programs.')) start.signal('SIGINT');
    return start.printed();
  };
  await expect.poll(repeatSignal, { interval: 300 }).toContain('Killing the remaining programs.');
  expect(await start.ended).toEqual({ code: 0, signal: null });
  // Killed processes may take a moment to end.
  await expect.poll(() => processesIn(local)).toEqual([]);
});

test('start stops when the command that started it is killed', async () => {
  const wrapper = spawn(
    'sh',
    ['-c', '"$@"; :', 'sh', process.execPath, startScript, '--local', local, '--services', fixtures],
    { env: { ...baseEnv(), ...(await platformPorts()) }, stdio: 'ignore' },
  );
  await expect.poll(() => exists(join(local, 'stack.json'))).toBe(true);
  wrapper.kill('SIGKILL');
  await expect.poll(() => processesIn(local)).toEqual([]);
  expect(await exists(join(local, 'stack.json'))).toBe(false);
});

test('start reports that its folder was deleted and stops everything', async () => {
  const start = startStack(local, await platformPorts());
  await start.ready();
  const { services } = await start.stack();
  await removeFolder(local);
  process.kill(services['alpha-notes']?.pid ?? 0, 'SIGKILL');
  expect(await start.ended).toMatchObject({ signal: null });
  expect(start.printed()).toContain(`${local} cannot be written (ENOENT`);
  expect(await processesIn(local)).toEqual([]);
});

test('the error names a folder that cannot be created', async () => {
  const file = join(local, 'file');
  await writeFile(file, '');
  const start = startStack(join(file, 'folder'), await platformPorts());
  expect(await start.ended).toEqual({ code: 1, signal: null });
  expect(start.printed()).toContain(`${join(file, 'folder')} cannot be written by this user`);
});

test('--help explains the options and starts nothing', async () => {
  const start = startStack(local, {}, '--help');
  expect(await start.ended).toEqual({ code: 0, signal: null });
  expect(start.printed()).toContain('--no-install');
});

test('the error names an invalid variable', async () => {
  const start = startStack(local, { GATEWAY_PORT: 'http' });
  expect(await start.ended).toEqual({ code: 1, signal: null });
  expect(start.printed()).toContain('GATEWAY_PORT must be a port from 1 to 65535, not "http"');
});

test('without Redis and nginx the services run on their own ports and get no REDIS_URL', async () => {
  const { PORT_BASE } = await platformPorts();
  const options = {
    ...readOptions(['--local', local, '--services', fixtures, '--no-install']),
    portBase: Number(PORT_BASE),
  };
  const prepared = await prepare(options);
  const programPaths = {
    'redis-server': null,
    nginx: null,
    chromium: null,
    promtool: null,
    python3: null,
    php: null,
    zsh: null,
  };
  const withoutPrograms = { ...prepared, programPaths };
  const supervisor = createSupervisor(() => {});
  onTestFinished(() => supervisor.stop());
  const stack = await bringUp(options, withoutPrograms, supervisor, new AbortController().signal);
  const { gateway, nginx, redis, services } = stack.describe();
  expect({ gateway, nginx, redis }).toEqual({ gateway: null, nginx: null, redis: null });
  const response = await fetch(services['alpha-notes']?.url ?? '');
  expect(await response.json()).not.toHaveProperty('REDIS_URL');
  expect(stack.curls[0]?.command).toContain(services['alpha-notes']?.url);
});
