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
 * Compares `document` with the committed copy in `file`. With `write` it replaces a copy that differs, and prints what it did.
 * @throws without `write`, when they differ
 */
export const syncDocument = async (
  document: Record<string, unknown>,
  file: URL,
  write: boolean,
): Promise<void> => {
  const name = basename(file.pathname);
  const text = `${JSON.stringify(document, null, 2)}\n`;
  const isCurrent = (await readFile(file, 'utf8').catch(() => '')) === text;
  if (!write && !isCurrent)
    throw new Error(`${name} does not match the routes; run the openapi script of this service.`);
  if (!write) return;
  // A file that is written restarts programs that watch it.
  if (!isCurrent) await writeFile(file, text);
  process.stdout.write(`${name}: ${isCurrent ? 'unchanged' : 'written'}\n`);
};
