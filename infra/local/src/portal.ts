import { chmod, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { baseEnv } from './env.ts';
import { ROOT } from './options.ts';
import { run } from './run.ts';
import { lastOf } from './text.ts';

/** What the gateway serves at /docs: the folder of the pages, and the credentials of the demo. */
export interface Portal {
  docsDir: string;
  demoFile: string;
}

/** Where both are in a local folder. The credentials lie where the gateway's workers can read, whoever they are. */
export const portalIn = (local: string): Portal => ({
  docsDir: join(local, 'portal'),
  demoFile: join(local, 'nginx', 'demo.json'),
});

const PROGRAM = join(ROOT, 'infra/portal/src/main.ts');

/**
 * Writes the pages; what an earlier start left of credentials goes.
 * @throws with the end of the output when the pages cannot be made
 */
export const layPortal = async ({ docsDir, demoFile }: Portal): Promise<void> => {
  await rm(demoFile, { force: true });
  const done = await run(process.execPath, [PROGRAM, '--out', docsDir], { env: baseEnv() });
  if (done.code !== 0) throw new Error(`the portal could not be made:\n${lastOf(done.output, 20)}`);
};

/** What of the demo's data the pages can do something with. */
type Found = {
  user?: object;
  questId?: string;
  store?: { id?: string; webhookToken?: string };
  wallet?: { hmacSecret?: string; players?: { playerId?: string }[]; gameCode?: string };
  verifyApiKey?: string;
};

/**
 * Hands the demo's credentials to the portal, for "try it". The gateway tells them to this machine alone, so that
 * anybody who has an account on it may read the file, too.
 */
export const tellDemo = async ({ demoFile }: Portal, accessToken: string, demo: Found): Promise<void> => {
  const { user, questId, store, wallet, verifyApiKey } = demo;
  const partial = `${demoFile}.${process.pid}`;
  const told = {
    accessToken,
    apiKey: verifyApiKey,
    hmacSecret: wallet?.hmacSecret,
    ...user,
    questId,
    store: store && { id: store.id, webhookToken: store.webhookToken },
    playerId: wallet?.players?.[0]?.playerId,
    gameCode: wallet?.gameCode,
  };
  await writeFile(partial, JSON.stringify(told), { mode: 0o644 });
  // Also where the umask would have it otherwise.
  await chmod(partial, 0o644);
  await rename(partial, demoFile);
};
