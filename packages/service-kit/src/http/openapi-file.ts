import { readFile, writeFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { createLog } from '../process/log.ts';
import type { LogAndMetrics } from '../process/context.ts';
import { createMetrics } from '../process/metrics.ts';

/** Settings that are enough to create an app and read its document; nothing connects. */
export const offlineVariables = {
  PORT: '0',
  DATABASE_URL: 'postgres://offline@127.0.0.1:1/offline',
  AUTH_JWKS: 'offline.json',
  AUTH_ISSUER: 'offline',
  AUTH_AUDIENCE: 'offline',
};

export const offlineParts = (): LogAndMetrics => ({
  log: createLog('offline', 'silent'),
  metrics: createMetrics(),
});

/**
 * Compares the generated `text` with the committed `file`; with `write` it replaces the file when they differ, and prints
 * what it did.
 * @throws without `write`, when they differ: the name of the file and `reason`
 */
export const syncFile = async (file: URL, text: string, write: boolean, reason: string): Promise<void> => {
  const name = basename(file.pathname);
  const isCurrent = (await readFile(file, 'utf8').catch(() => '')) === text;
  if (!write && !isCurrent) throw new Error(`${name} ${reason}`);
  if (!write) return;
  // A file that is written restarts programs that watch it.
  if (!isCurrent) await writeFile(file, text);
  process.stdout.write(`${name}: ${isCurrent ? 'unchanged' : 'written'}\n`);
};

/**
 * Compares `document` with the committed copy in `file`; with `write` it replaces the copy instead.
 * Throws when they differ.
 */
export const syncDocument = (document: Record<string, unknown>, file: URL, write: boolean): Promise<void> =>
  syncFile(
    file,
    `${JSON.stringify(document, null, 2)}\n`,
    write,
    'does not match the routes; run the openapi script of this service.',
  );
