import { readFile, writeFile } from 'node:fs/promises';
import { createLog } from '../process/log.ts';
import type { Parts } from '../process/context.ts';
import { createMetrics } from '../process/metrics.ts';

/** Settings that are enough to create an app and read its document; nothing connects. */
export const offlineVariables = {
  PORT: '0',
  DATABASE_URL: 'postgres://offline@127.0.0.1:1/offline',
  AUTH_JWKS: 'offline.json',
  AUTH_ISSUER: 'offline',
  AUTH_AUDIENCE: 'offline',
};

export const offlineParts = (): Parts => ({ log: createLog('offline', 'silent'), metrics: createMetrics() });

/**
 * Compares `document` with the committed copy in `file`; with `write` it replaces the copy instead.
 * Throws when they differ.
 */
export const syncDocument = async (
  document: Record<string, unknown>,
  file: URL,
  write: boolean,
): Promise<void> => {
  const current = `${JSON.stringify(document, null, 2)}\n`;
  if (write) return writeFile(file, current);
  if ((await readFile(file, 'utf8').catch(() => '')) !== current) {
    throw new Error('openapi.json does not match the routes; run the openapi script of this service.');
  }
};
