import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { baseEnv } from './env.ts';
import { isRunning, signal } from './process-table.ts';
import { nextWait, supervise, type Program } from './supervisor.ts';
import { scratch } from '../test/scratch.ts';

const QUICK = { first: 1, longest: 4, steady: 60_000 };

const program = async (script: string, answers = async () => true): Promise<Program> => {
  const folder = await scratch();
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
    answers,
    stopLimitMs: 300,
  };
};

test('a program that is killed runs again, as another process', async () => {
  const supervised = supervise(await program('setInterval(() => {}, 1000)'), () => {}, QUICK);
  await supervised.ready(10_000);
  const before = supervised.id;
  signal(before?.pid ?? 0, 'SIGKILL');
  await vi.waitFor(() => expect(supervised.id?.pid).not.toBeOneOf([undefined, before?.pid]), 10_000);
  await supervised.stop();
});

test('a program that keeps dying before it is ready is given up with the end of its log', async () => {
  const supervised = supervise(
    await program("throw new Error('no such quest')", async () => false),
    () => {},
    QUICK,
  );
  await expect(supervised.ready(30_000)).rejects.toThrow(/program died 5 times.*no such quest/s);
  await supervised.stop();
});

test('a program that is not ready in time is an error, and can still be stopped', async () => {
  const supervised = supervise(
    await program('setInterval(() => {}, 1000)', async () => false),
    () => {},
    QUICK,
  );
  await expect(supervised.ready(200)).rejects.toThrow('program was not ready after 0.2 s');
  await supervised.stop();
  expect(supervised.id).toBeUndefined();
});

test('a program that ignores its stop signal is killed, and its own children with it', async () => {
  const script = `
    import { spawn } from "node:child_process";
    import { writeFileSync } from "node:fs";
    process.on("SIGTERM", () => {});
    const child = spawn(process.execPath, ["-e", "process.on('SIGTERM', () => {}); setInterval(() => {}, 1000)"]);
    writeFileSync("child", String(child.pid));`;
  const stubborn = await program(script);
  const childFile = join(stubborn.command.cwd, 'child');
  const supervised = supervise(
    { ...stubborn, answers: async () => (await readFile(childFile, 'utf8').catch(() => '')) !== '' },
    () => {},
    QUICK,
  );
  await supervised.ready(10_000);
  const child = { pid: Number(await readFile(childFile, 'utf8')), startedAt: '' };
  expect(isRunning(child)).toBe(true);
  await supervised.stop();
  await vi.waitFor(() => expect(isRunning(child)).toBe(false), 5_000);
});

test('waits double up to the longest, and a long life begins anew', () => {
  const backOff = { first: 200, longest: 1_000, steady: 20_000 };
  expect(nextWait(backOff, 0, 5)).toBe(200);
  expect(nextWait(backOff, 200, 5)).toBe(400);
  expect(nextWait(backOff, 800, 5)).toBe(1_000);
  expect(nextWait(backOff, 1_000, 20_000)).toBe(200);
});
