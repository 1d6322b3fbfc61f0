import { spawn } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { parse } from 'yaml';
import { createSupervisor } from '../src/program.ts';
import { baseEnv } from '../src/env.ts';
import { exists } from '../src/local-folder.ts';
import { readOptions } from '../src/options.ts';
import { run } from '../src/spawn.ts';
import { bringUp, prepare } from '../src/up.ts';
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

/** A folder with one service made of these files. */
const serviceOf = async (files: Record<string, string>): Promise<string> => {
  const folder = join(local, 'services');
  await mkdir(join(folder, 'lone-service/src'), { recursive: true });
  const all = { 'package.json': '{"name": "lone-service", "type": "module"}', ...files };
  const listed = parse(await readFile(join(fixtures, '../services.yaml'), 'utf8')) as Record<string, object>;
  const list = { 'lone-service': { ...listed['beta-counter'], standIn: undefined } };
  await writeFile(join(local, 'services.yaml'), JSON.stringify(list));
  for (const [name, text] of Object.entries(all)) await writeFile(join(folder, 'lone-service', name), text);
  return folder;
};

/** Processes whose command line names the folder. */
const leftIn = async (folder: string): Promise<string[]> => {
  const { stdout } = await run('ps', ['-eo', 'args']);
  return stdout.split('\n').filter((line) => line.includes(folder));
};

test('a service that does not become ready fails the start with the end of its log, and no program is left', async () => {
  const services = await serviceOf({ 'src/main.ts': 'throw new Error("QUEST_COLOUR is missing");' });
  const start = startStack(local, await platformPorts(), '--services', services);
  expect(await start.ended).toEqual({ code: 1, signal: null });
  expect(start.printed()).toMatch(/lone-service ended 5 times.*QUEST_COLOUR is missing/s);
  expect(await leftIn(local)).toEqual([]);
});

/** Fails with a stack and fields as long as those of the database client. */
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
])('a %s that goes wrong ends the start with its reason', async (task, text, reason) => {
  const services = await serviceOf({ 'src/main.ts': '', [`src/${task}.ts`]: text });
  const start = startStack(local, await platformPorts(), '--services', services);
  expect(await start.ended).toEqual({ code: 1, signal: null });
  expect(start.printed()).toMatch(reason);
});

test('a demo that goes wrong shows its reason, but not the credentials that it prints', async () => {
  const demo = 'console.log(process.env.DEMO_ADMIN_TOKEN); throw new Error("no such shop");';
  const services = await serviceOf({ 'src/main.ts': '', 'src/demo.ts': demo });
  const start = startStack(local, await platformPorts(), '--services', services);
  await start.ended;
  expect(start.printed()).toContain('no such shop');
  expect(start.printed()).not.toContain('eyJ');
});

test('Ctrl-C during the start stops the programs that were started', async () => {
  const services = await serviceOf({ 'src/main.ts': '', 'src/migrate.ts': 'setInterval(() => {}, 1000);' });
  const start = startStack(local, await platformPorts(), '--services', services);
  await expect.poll(start.printed).toContain('PostgreSQL is ready');
  start.signal('SIGINT');
  expect(await start.ended).toEqual({ code: 0, signal: null });
  expect(await leftIn(local)).toEqual([]);
  expect(await exists(join(local, 'stack.json'))).toBe(false);
});

test('a second Ctrl-C kills programs that ignore the first', async () => {
  const stubborn = `
    import { createServer } from 'node:http';
    for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => {});
    for (const port of [process.env.PORT, process.env.PROBE_PORT])
      createServer((_, response) => response.end()).listen(Number(port), '127.0.0.1');`;
  const services = await serviceOf({ 'src/main.ts': stubborn });
  const start = startStack(local, await platformPorts(), '--services', services);
  await start.ready();
  start.signal('SIGINT');
  await expect.poll(start.printed).toContain('SIGINT: stopping');
  const again = (): string => {
    // Send no further signal: Node.js does not handle signals while it exits.
    if (!start.printed().includes('Killing what is left.')) start.signal('SIGINT');
    return start.printed();
  };
  await expect.poll(again, { interval: 300 }).toContain('Killing what is left.');
  expect(await start.ended).toEqual({ code: 0, signal: null });
  // What was killed may take a moment to end.
  await expect.poll(() => leftIn(local)).toEqual([]);
});

test('when the command that ran start is killed, start stops', async () => {
  const wrapper = spawn(
    'sh',
    ['-c', '"$@"; :', 'sh', process.execPath, startScript, '--local', local, '--services', fixtures],
    { env: { ...baseEnv(), ...(await platformPorts()) }, stdio: 'ignore' },
  );
  await expect.poll(() => exists(join(local, 'stack.json'))).toBe(true);
  wrapper.kill('SIGKILL');
  await expect.poll(() => leftIn(local)).toEqual([]);
  expect(await exists(join(local, 'stack.json'))).toBe(false);
});

test('when its folder is deleted, start says so and stops everything', async () => {
  const start = startStack(local, await platformPorts());
  await start.ready();
  const { services } = await start.stack();
  await removeFolder(local);
  process.kill(services['alpha-notes']?.pid ?? 0, 'SIGKILL');
  expect(await start.ended).toMatchObject({ signal: null });
  expect(start.printed()).toContain(`${local} cannot be written (ENOENT`);
  expect(await leftIn(local)).toEqual([]);
});

test('a folder that cannot be created is an error that names it', async () => {
  const inFile = join(local, 'file');
  await writeFile(inFile, '');
  const start = startStack(join(inFile, 'below'), await platformPorts());
  expect(await start.ended).toEqual({ code: 1, signal: null });
  expect(start.printed()).toContain(`${join(inFile, 'below')} cannot be written by this user`);
});

test('--help explains the options and starts nothing', async () => {
  const start = startStack(local, {}, '--help');
  expect(await start.ended).toEqual({ code: 0, signal: null });
  expect(start.printed()).toContain('--no-install');
});

test('a wrong variable is named', async () => {
  const start = startStack(local, { GATEWAY_PORT: 'http' });
  expect(await start.ended).toEqual({ code: 1, signal: null });
  expect(start.printed()).toContain('GATEWAY_PORT must be a port from 1 to 65535, not "http"');
});

test('without Redis and nginx the services run on their own ports, and get no REDIS_URL', async () => {
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
  const bare = { ...prepared, programPaths };
  const supervisor = createSupervisor(() => {});
  onTestFinished(() => supervisor.stop());
  const stack = await bringUp(options, bare, supervisor, new AbortController().signal);
  const { gateway, nginx, redis, services } = stack.describe();
  expect({ gateway, nginx, redis }).toEqual({ gateway: null, nginx: null, redis: null });
  const answer = await fetch(services['alpha-notes']?.url ?? '');
  expect(await answer.json()).not.toHaveProperty('REDIS_URL');
  expect(stack.curls[0]?.command).toContain(services['alpha-notes']?.url);
});
