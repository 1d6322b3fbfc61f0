import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test, onTestFinished } from 'vitest';
import { scratch } from '../test/stack.ts';
import { readJson, lockFolder } from './local-folder.ts';
import { bootId, identify, isRunning, stateInPs, type ProcessId } from './process.ts';
import { run } from './spawn.ts';

test('readJson names a file that is not JSON, and why', async () => {
  const path = join(await scratch(), 'stack.json');
  await writeFile(path, 'not JSON');
  await expect(readJson(path)).rejects.toThrow(`${path} cannot be read: Unexpected token`);
});

test.runIf(process.getuid?.() === 0)('a file of another user is named, with what to do', async () => {
  const folder = await scratch();
  const path = join(folder, 'secrets.json');
  await chmod(folder, 0o755);
  await writeFile(path, '{}', { mode: 0o600 });
  // As root it loads the module, then reads as a user who may not.
  const script = `import(${JSON.stringify(new URL('./local-folder.ts', import.meta.url).href)})
    .then(({ readJson }) => { process.setuid(65534); return readJson(${JSON.stringify(path)}); })
    .catch((error) => console.log(error.message));`;
  const { stdout } = await run(process.execPath, ['-e', script]);
  expect(stdout).toContain(`${path} cannot be read: it belongs to another user`);
});

const GONE = { pid: 2 ** 22 - 1, startedAt: '1' };

const sleeper = (): ProcessId => {
  const child = spawn('sleep', ['600'], { detached: true, stdio: 'ignore' });
  onTestFinished(() => void child.kill('SIGKILL'));
  return identify(child.pid ?? 0);
};

const folderWith = async (
  owner: ProcessId,
  child: ProcessId,
  of?: string,
  boot = bootId(),
): Promise<string> => {
  const folder = await scratch();
  const children = [{ ...child, name: 'redis', stopSignal: 'SIGTERM' }];
  await writeFile(
    join(folder, 'processes.json'),
    JSON.stringify({ folder: of ?? folder, boot, owner, children }),
  );
  return folder;
};

test('the next start stops the programs that a killed one left running', async () => {
  const left = sleeper();
  const { stopped } = await lockFolder(await folderWith(GONE, left));
  expect(stopped).toEqual(['redis']);
  expect(isRunning(left)).toBe(false);
});

test('a process that has got the id of an old one is not stopped', async () => {
  const stranger = sleeper();
  const { stopped } = await lockFolder(await folderWith(GONE, { ...stranger, startedAt: '1' }));
  expect(stopped).toEqual([]);
  expect(isRunning(stranger)).toBe(true);
});

test('after a restart of the system nothing is stopped, and no owner keeps the folder locked', async () => {
  const [stranger, other] = [sleeper(), sleeper()];
  const { stopped } = await lockFolder(await folderWith(other, stranger, undefined, 'another start'));
  expect(stopped).toEqual([]);
  expect([isRunning(stranger), isRunning(other)]).toEqual([true, true]);
});

test.runIf(existsSync('/usr/bin/ps') || existsSync('/bin/ps'))(
  'ps tells the start time of a process, and nothing of one that is gone',
  () => {
    const before = Date.now() - 2_000;
    const { pid } = sleeper();
    const started = Date.parse(`${stateInPs(pid)?.startedAt} UTC`);
    expect(started).toBeGreaterThan(before);
    expect(started).toBeLessThan(Date.now() + 2_000);
    expect(stateInPs(GONE.pid)).toBeUndefined();
  },
);

test('a second start in the folder of a running stack is refused, and the stack keeps running', async () => {
  const child = sleeper();
  const owner = sleeper();
  await expect(lockFolder(await folderWith(owner, child))).rejects.toThrow(
    `already running here (process ${owner.pid})`,
  );
  expect(isRunning(child)).toBe(true);
});

test('a copy of a folder does not stop the processes of the first one', async () => {
  const child = sleeper();
  await lockFolder(await folderWith(sleeper(), child, '/somewhere/else'));
  expect(isRunning(child)).toBe(true);
});
