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
  const generated = JSON.parse(await readFile(join(local, 'secrets.json'), 'utf8')) as Record<string, string>;
  const keys = (await readdir(join(local, 'keys'))).filter((name) => name !== 'jwks.json');
  const privateParts = keys.map(async (name) => {
    const { d } = JSON.parse(await readFile(join(local, 'keys', name), 'utf8')) as { d?: string };
    return d ?? '';
  });
  const urls = [postgres.url, ...Object.values(services).map(({ databaseUrl }) => databaseUrl)];
  const all = [
    ...Object.values(generated),
    ...(await Promise.all(privateParts)),
    ...urls.map((url) => new URL(url).password),
    demo.adminToken,
    demo.approverToken,
    demo.consignmentsToken,
    demo.store.webhookToken,
    demo.wallet.hmacSecret,
    demo.verifyApiKey,
    demo.verifyApiKeyNoScope,
    demo.verifyPartnerKey,
  ];
  return [...new Set(all.filter(Boolean))];
};

/** The texts of the logs of a stack, by their paths. */
export const readLogs = async (local: string): Promise<Record<string, string>> => {
  const entries = await readdir(local, { recursive: true, withFileTypes: true });
  const paths = entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => relative(local, join(parentPath, name)))
    .filter((path) => !KEEPERS.some((keeper) => path === keeper || path.startsWith(`${keeper}/`)));
  const texts = paths.map(async (path) => [path, await readFile(join(local, path), 'utf8')] as const);
  return Object.fromEntries(await Promise.all(texts));
};

/** One line for each log that contains a secret, without the secret itself. */
export const findLeaks = (logs: Record<string, string>, secrets: readonly string[]): string[] =>
  Object.entries(logs).flatMap(([name, text]) => {
    const which = secrets.findIndex((secret) => text.includes(secret));
    return which === -1 ? [] : [`${name} contains secret ${which} (${secrets[which]?.length} characters)`];
  });
