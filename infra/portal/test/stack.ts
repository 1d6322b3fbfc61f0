import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { inject } from 'vitest';
import type { DemoCredentials } from '../src/site/demo.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Folder of the platform that the tests share; a file named `wanted` in it starts the platform. */
    localFolder: string;
  }
}

/** The fields of stack.json that the tests use; the gateway is null without nginx. */
export interface Stack {
  gateway: string | null;
  services: Record<string, { pid: number }>;
  demo: {
    adminToken: string;
    consignmentsToken: string;
    questId: string;
    store: { id: string; webhookToken: string };
    wallet: { hmacSecret: string };
  };
}

/** Content of prepared.json, which test-setup.ts writes. */
export interface Prepared {
  stack: Stack;
  /** The credentials that the portal gets for a code; null without a gateway. */
  demo: DemoCredentials | null;
  /** File with the output of `start`, which contains the codes that open the demo. */
  outputFile: string;
}

const read = (name: string): Promise<string | undefined> =>
  readFile(join(inject('localFolder'), name), 'utf8').catch(() => undefined);

const waitForPlatform = async (): Promise<Prepared> => {
  await writeFile(join(inject('localFolder'), 'wanted'), '');
  for (;;) {
    const prepared = await read('prepared.json');
    if (prepared !== undefined) return JSON.parse(prepared) as Prepared;
    const failed = await read('failed');
    if (failed !== undefined) throw new Error(failed);
    await sleep(100);
  }
};

/** The running platform; the first test file that imports this starts it. */
export const { stack, demo, outputFile } = await waitForPlatform();
