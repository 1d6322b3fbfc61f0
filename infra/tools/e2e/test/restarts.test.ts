import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type {} from '@platform/local/provided';
import { expect, inject, test } from 'vitest';
import { whileClientsRun, type Traffic } from '../src/load.ts';
import { startStack, type LocalStack } from '../src/stack.ts';
import { isReady, waitFor } from '../src/wait.ts';

interface Restarts {
  traffic: Traffic;
  /** Lines of the gateway's access log with a status of 500 or more. */
  errors: string[];
}

/** Each of the two instances of a service. */
const INSTANCES = [0, 1];

/** Stops one instance of a service with SIGTERM and waits until its successor is ready. */
const restart = async ({ read }: LocalStack, service: string, index: number): Promise<void> => {
  const instance = async () => (await read()).instances?.[service]?.[index];
  const before = await instance();
  if (!before?.pid) throw new Error(`${service} does not run`);
  process.kill(before.pid, 'SIGTERM');
  await waitFor(`${service} is restarted`, async () => {
    const now = await instance();
    return Boolean(now?.pid) && now?.pid !== before.pid && isReady(`${now?.url}/readyz`);
  });
};

/**
 * Runs two instances of every service behind the gateway and restarts both of them, one directly after the other, while
 * clients send POST requests on two connections for each service.
 */
const restartUnderLoad = async (): Promise<Restarts> => {
  await using stack = await startStack({ instances: 2, env: { RATE_LIMIT: 'off' } });
  const stackFile = await stack.read();
  const restartBoth = async (service: string): Promise<void> => {
    for (const index of INSTANCES) await restart(stack, service, index);
  };
  const traffic = await whileClientsRun(stackFile, async () => {
    await Promise.all(Object.keys(stackFile.services).map(restartBoth));
  });
  const log = await readFile(join(stack.local, 'logs/gateway/access.log'), 'utf8');
  return { traffic, errors: log.split('\n').filter((line) => /"status":5\d\d/.test(line)) };
};

test.runIf(inject('nginxPath') && inject('redisUrl'))(
  'no request fails while both instances of every service restart, one directly after the other, under load',
  async () => {
    const { traffic, errors } = await restartUnderLoad();
    expect(errors).toEqual([]);
    expect(Object.values(traffic).flatMap(({ failures }) => failures)).toEqual([]);
    expect(Object.values(traffic).filter(({ acknowledged }) => acknowledged.size === 0)).toEqual([]);
    expect(Object.keys(traffic)).toHaveLength(6);
  },
  // Only a hang takes longer.
  1_200_000,
);
