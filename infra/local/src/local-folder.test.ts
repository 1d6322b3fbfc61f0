import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test, onTestFinished } from 'vitest';
import { temporaryTestFolder } from '../test/stack.ts';
import { readJson, lockFolder } from './local-folder.ts';
import { bootId, identify, isRunning, stateInPs, type ProcessId } from './process.ts';
import { run } from './spawn.ts';

test('the error of readJson names a file that is not JSON and the reason', async () => {
  const path = join(await temporaryTestFolder(), 'stack.json');
  await writeFile(path, 'not JSON');
  await expect(readJson(path)).rejects.toThrow(`${path} cannot be read: Unexpected token`);
});

test.runIf(process.getuid?.() === 0)('the error names a file of another user and the solution', async () => {
  const folder = await temporaryTestFolder();
  const path = join(folder, 'secrets.json');
  await chmod(folder, 0o755);
  await writeFile(path, '{}', { mode: 0o600 });
  // Loads the module as root, then reads the file as a user without permission.
  const script = `import(${JSON.stringify(new URL('./local-folder.ts', import.meta.url).href)})
    .then(({ readJson }) => { process.setuid(65534); return readJson(${JSON.stringify(path)}); })
    .catch((error) => console.log(error.message));`;
  const { stdout } = await run(process.execPath, ['-e', script]);
  expect(stdout).toContain(`${path} cannot be read: it belongs to another user`);
});

const ENDED_PROCESS = { pid: 2 ** 22 - 1, startedAt: '1' };

const startSleep = (): ProcessId => {
  const child = spawn('sleep', ['600'], { detached: true, stdio: 'ignore' });
  onTestFinished(() => void child.kill('SIGKILL'));
  return identify(child.pid ?? 0);
};

const folderWith = async (
  owner: ProcessId,
  child: ProcessId,
  recordedFolder?: string,
  boot = bootId(),
): Promise<string> => {
  const folder = await temporaryTestFolder();
  const children = [{ ...child, name: 'redis', stopSignal: 'SIGTERM' }];
  await writeFile(
    join(folder, 'processes.json'),
    JSON.stringify({ folder: recordedFolder ?? folder, boot, owner, children }),
  );
  return folder;
};

test('the next start stops programs that still run because the last start was killed', async () => {
  const program = startSleep();
  const { stopped } = await lockFolder(await folderWith(ENDED_PROCESS, program));
  expect(stopped).toEqual(['redis']);
  expect(isRunning(program)).toBe(false);
});

test('a process that reuses the id of an old one is not stopped', async () => {
  const otherProgram = startSleep();
  const { stopped } = await lockFolder(await folderWith(ENDED_PROCESS, { ...otherProgram, startedAt: '1' }));
  expect(stopped).toEqual([]);
  expect(isRunning(otherProgram)).toBe(true);
});

test('after a reboot no process is stopped and the folder is not locked', async () => {
  const [otherProgram, otherOwner] = [startSleep(), startSleep()];
  const { stopped } = await lockFolder(await folderWith(otherOwner, otherProgram, undefined, 'another boot'));
  expect(stopped).toEqual([]);
  expect([isRunning(otherProgram), isRunning(otherOwner)]).toEqual([true, true]);
});

test.runIf(existsSync('/usr/bin/ps') || existsSync('/bin/ps'))(
  'stateInPs returns the start time of a process, and undefined after it ended',
  () => {
    const before = Date.now() - 2_000;
    const { pid } = startSleep();
    const started = Date.parse(`${stateInPs(pid)?.startedAt} UTC`);
    expect(started).toBeGreaterThan(before);
    expect(started).toBeLessThan(Date.now() + 2_000);
    expect(stateInPs(ENDED_PROCESS.pid)).toBeUndefined();
  },
);

test('a second start in the folder of a running stack is rejected, and the stack keeps running', async () => {
  const child = startSleep();
  const owner = startSleep();
  await expect(lockFolder(await folderWith(owner, child))).rejects.toThrow(
    `already running here (process ${owner.pid})`,
  );
  expect(isRunning(child)).toBe(true);
});

test('a start in a copied folder does not stop the processes of the original', async () => {
  const child = startSleep();
  await lockFolder(await folderWith(startSleep(), child, '/somewhere/else'));
  expect(isRunning(child)).toBe(true);
});
