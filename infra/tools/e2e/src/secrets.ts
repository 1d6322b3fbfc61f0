import { readdir, readFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import type { StackFile } from './stack.ts';

/** Files and folders that may contain secrets; all others are logs. */
const KEEPERS = ['data', 'keys', 'folders', 'secrets.json', 'stack.json', 'nginx/gateway-secret.conf'];

/** Every secret of a running stack: tokens, keys, passwords. */
export const secretsOf = async (
  local: string,
  { demo, services, postgres }: StackFile,
): Promise<string[]> => {
  const made = JSON.parse(await readFile(join(local, 'secrets.json'), 'utf8')) as Record<string, string>;
  const keys = (await readdir(join(local, 'keys'))).filter((name) => name !== 'jwks.json');
  const privateParts = keys.map(async (name) => {
    const { d } = JSON.parse(await readFile(join(local, 'keys', name), 'utf8')) as { d?: string };
    return d ?? '';
  });
  const urls = [postgres.url, ...Object.values(services).map(({ databaseUrl }) => databaseUrl)];
  const all = [
    ...Object.values(made),
    ...(await Promise.all(privateParts)),
    ...urls.map((url) => new URL(url).password),
    demo.adminToken,
    demo.approverToken,
    demo.consignmentsToken,
    demo.store.webhookToken,
    demo.wallet.hmacSecret,
    demo.verifyApiKey,
    demo.verifyApiKeyNoScope,
  ];
  return [...new Set(all.filter(Boolean))];
};

/** The logs of a stack. */
export const logsOf = async (local: string): Promise<string[]> => {
  const entries = await readdir(local, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => relative(local, join(parentPath, name)))
    .filter((path) => !KEEPERS.some((keeper) => path === keeper || path.startsWith(`${keeper}/`)));
};

/** The logs that contain a secret, without the secret itself. */
export const leaks = async (local: string, secrets: readonly string[]): Promise<string[]> => {
  const found: string[] = [];
  for (const path of await logsOf(local)) {
    const text = await readFile(join(local, path), 'utf8');
    const which = secrets.findIndex((secret) => text.includes(secret));
    if (which >= 0) found.push(`${path} contains secret ${which} (${secrets[which]?.length} characters)`);
  }
  return found;
};
