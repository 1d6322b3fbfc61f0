import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { baseEnv } from './env.ts';
import { identify, isRunning, signal } from './process.ts';
import { keepRunning, nextDelay, type Program, type RunningProgram } from './supervisor.ts';
import { temporaryTestFolder } from '../test/stack.ts';

const READY_MS = 120_000;
const QUICK_BACK_OFF = { first: 1, longest: 4, steady: 60_000 };

const program = async (script: string, isReady = async () => true): Promise<Program> => {
  const folder = await temporaryTestFolder();
  await writeFile(join(folder, 'program.mjs'), script);
  return {
    name: 'program',
    command: {
      file: process.execPath,
      args: ['program.mjs'],
      cwd: folder,
      env: baseEnv(),
      stopSignal: 'SIGTERM',
      logFile: join(folder, 'log'),
    },
    isReady,
    stopLimitMs: 300,
  };
};

test('a killed program is restarted as another process', async () => {
  const running = keepRunning(await program('setInterval(() => {}, 1000)'), { backOff: QUICK_BACK_OFF });
  await running.ready(READY_MS);
  const before = running.id;
  signal(before?.pid ?? 0, 'SIGKILL');
  await expect.poll(() => running.id?.pid).not.toBeOneOf([undefined, before?.pid]);
  await running.stop();
});

test('restart starts a program at once, even during the delay after a crash', async () => {
  const slow = { first: 60_000, longest: 60_000, steady: 60_000 };
  const running = keepRunning(await program('setInterval(() => {}, 1000)'), { backOff: slow });
  await running.ready(READY_MS);
  const first = running.id;
  await running.restart();
  await running.ready(READY_MS);
  const second = running.id;
  expect(second?.pid).not.toBe(first?.pid);
  signal(second?.pid ?? 0, 'SIGKILL');
  await expect.poll(() => running.id).toBeUndefined();
  await running.restart();
  await running.ready(READY_MS);
  expect(running.id?.pid).not.toBe(second?.pid);
  await running.stop();
});

test('a restarted program is ready only as the new process, even if the output of the old one stays open', async () => {
  // The child has its own process group, so it outlives the program and holds the output open.
  const script = `
    import { spawn } from "node:child_process";
    import { writeFileSync } from "node:fs";
    const options = { detached: true, stdio: "inherit" };
    const child = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"], options);
    writeFileSync("child" + process.pid, String(child.pid));
    setInterval(() => {}, 1000);`;
  const { command, ...otherOptions } = await program(script);
  let running: RunningProgram | undefined;
  const childOf = async (pid = 0): Promise<number> =>
    Number(await readFile(join(command.cwd, `child${pid}`), 'utf8').catch(() => '0'));
  const isReady = async (): Promise<boolean> => (await childOf(running?.id?.pid)) > 0;
  running = keepRunning({ ...otherOptions, command, isReady }, { backOff: QUICK_BACK_OFF });
  await running.ready(READY_MS);
  const first = running.id?.pid;
  await running.restart();
  await running.ready(READY_MS);
  const second = running.id?.pid;
  await running.stop();
  for (const pid of [first, second]) signal(await childOf(pid), 'SIGKILL');
  expect(second).not.toBe(first);
});

test('a program that ends five times before it is ready is reported with the end of its log', async () => {
  const running = keepRunning(await program("throw new Error('no such quest')", async () => false), {
    backOff: QUICK_BACK_OFF,
  });
  await expect(running.ready(READY_MS)).rejects.toThrow(/program ended 5 times.*no such quest/s);
  await running.stop();
});

test('a program that is not ready in time is reported and can still be stopped', async () => {
  const running = keepRunning(await program('setInterval(() => {}, 1000)', async () => false), {
    backOff: QUICK_BACK_OFF,
  });
  await expect(running.ready(200)).rejects.toThrow('program was not ready after 0.2 s');
  await running.stop();
  expect(running.id).toBeUndefined();
});

test('a program that is not ready in time is reported with its own explanation, without the end of its log', async () => {
  const silent = await program(
    "console.log('the end of its log'); setInterval(() => {}, 1000)",
    async () => false,
  );
  const running = keepRunning(
    { ...silent, explain: async () => '{"migrations":"down"}' },
    { backOff: QUICK_BACK_OFF },
  );
  const message = await running.ready(200).catch(String);
  expect(message).toContain('program was not ready after 0.2 s: {"migrations":"down"}; its log: ');
  expect(message).not.toContain('the end of its log');
  await running.stop();
});

test('a program that ignores its stop signal is killed together with its child processes', async () => {
  const script = `
    import { spawn } from "node:child_process";
    import { writeFileSync } from "node:fs";
    process.on("SIGTERM", () => {});
    const child = spawn(process.execPath, ["-e", "process.on('SIGTERM', () => {}); setInterval(() => {}, 1000)"]);
    writeFileSync("child", String(child.pid));`;
  const stubborn = await program(script);
  const childFile = join(stubborn.command.cwd, 'child');
  const running = keepRunning(
    { ...stubborn, isReady: async () => (await readFile(childFile, 'utf8').catch(() => '')) !== '' },
    { backOff: QUICK_BACK_OFF },
  );
  await running.ready(READY_MS);
  const child = identify(Number(await readFile(childFile, 'utf8')));
  expect(isRunning(child)).toBe(true);
  await running.stop();
  await expect.poll(() => isRunning(child)).toBe(false);
});

test('delays double up to the longest, and are reset after a long run', () => {
  const backOff = { first: 200, longest: 1_000, steady: 20_000 };
  expect(nextDelay(backOff, 0, 5)).toBe(200);
  expect(nextDelay(backOff, 200, 5)).toBe(400);
  expect(nextDelay(backOff, 800, 5)).toBe(1_000);
  expect(nextDelay(backOff, 1_000, 20_000)).toBe(200);
});
