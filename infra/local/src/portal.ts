import { join } from 'node:path';
import { baseEnv } from './env.ts';
import { ROOT } from './options.ts';
import type { Service } from './services.ts';
import { lastLines, run } from './spawn.ts';

const PROGRAM = join(ROOT, 'infra/portal/src/main.ts');

/**
 * Writes the pages that the gateway serves at /docs.
 * @throws with the end of the output when the pages cannot be built
 */
export const buildPortal = async (docsDir: string): Promise<void> => {
  const done = await run(process.execPath, [PROGRAM, '--out', docsDir], { env: baseEnv() });
  if (done.code !== 0) throw new Error(`the portal could not be built:\n${lastLines(done.output)}`);
};

/** The settings of a service that name pages of the portal; none without a gateway, which serves them. */
export const pageSettings = ({ pages }: Service, gateway: string | null): Record<string, string> =>
  gateway === null
    ? {}
    : Object.fromEntries(Object.entries(pages).map(([variable, path]) => [variable, gateway + path]));

/** The part of the demo data that the pages use. */
type DemoData = {
  user?: object;
  questId?: string;
  store?: { id?: string; webhookToken?: string };
  wallet?: { hmacSecret?: string };
  verifyApiKey?: string;
};

/** What the portal fills in for "try it". */
export const demoCredentials = (accessToken: string, demo: DemoData): object => {
  const { user, questId, store, wallet, verifyApiKey } = demo;
  return {
    accessToken,
    apiKey: verifyApiKey,
    hmacSecret: wallet?.hmacSecret,
    ...user,
    questId,
    store: store && { id: store.id, webhookToken: store.webhookToken },
  };
};
