import { identify, isRunning, type ProcessId } from '@platform/local/process';
import type {} from '@platform/local/provided';
import { expect, inject, test } from 'vitest';
import { runCrashTest, readLogs, secretsOf, type CrashReport } from '../src/crash-test.ts';
import { startStack, type LocalStack, type Platform } from '../src/stack.ts';
import { waitFor } from '../src/wait.ts';

/** Kills a process with SIGKILL, and waits until it runs again and the whole stack is ready. */
const crash = async (stack: LocalStack, name: string): Promise<void> => {
  const before = (await stack.pids())[name];
  if (!before) throw new Error(`${name} does not run`);
  process.kill(before, 'SIGKILL');
  await waitFor(`${name} is restarted`, async () => {
    const now = (await stack.pids())[name];
    return Boolean(now) && now !== before;
  });
  await stack.ready();
};

/** Runs the test on a new stack; a process that still runs afterwards is a fault. */
const runLocally = async (): Promise<CrashReport> => {
  const processes: ProcessId[] = [];
  const report = await (async () => {
    await using stack = await startStack();
    const { local, gamePort } = stack;
    const access = await stack.read();
    const platform: Platform = {
      access,
      gameServer: { host: '127.0.0.1', port: gamePort },
      programs: Object.keys(await stack.pids()),
      crash: (name) => crash(stack, name),
      secrets: await secretsOf(local, access),
      logs: () => readLogs(local),
    };
    const result = await runCrashTest(platform);
    for (const pid of Object.values(await stack.pids())) if (pid !== null) processes.push(identify(pid));
    return result;
  })();
  const left = processes.filter(isRunning).map(({ pid }) => pid);
  if (left.length > 0) report.faults.push(`processes ${left.join()} still run`);
  return report;
};

test.runIf(inject('nginxPath') && inject('redisUrl'))(
  'nothing acknowledged is lost while every program is killed in turn, the ledger stays consistent, and no log contains a secret',
  async () => {
    const { crashes, results, logs, faults } = await runLocally();
    expect(faults).toEqual([]);
    expect(Object.keys(crashes)).toHaveLength(9);
    expect(Object.values(results).filter(({ steps }) => steps === 0)).toEqual([]);
    expect(logs).toEqual(expect.arrayContaining(['logs/task-manager.log', 'logs/gateway/access.log']));
  },
  // Only a hang takes longer.
  1_200_000,
);
