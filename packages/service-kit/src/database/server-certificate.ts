import { existsSync, readFileSync } from 'node:fs';
import { SettingsError } from '../process/env.ts';
import { certificateCode, codesOf } from './database-error.ts';

/** URL and TLS options for postgres.js. */
export interface Server {
  url: string;
  ssl?: { host: string; ca?: string };
}

/**
 * Supports `sslmode=verify-full` and `sslrootcert` in a URL as libpq does, so that pg_dump and psql accept the same URL. The
 * server's certificate must be for the host of the URL, and signed by the certificates in that file, else by a public authority.
 * Needed because postgres.js does not read the file, and for an IP address compares the certificate with the name localhost.
 * @throws SettingsError if the file does not exist, or would not be used
 */
export const serverOf = (text: string): Server => {
  const url = new URL(text);
  const [mode, file] = ['sslmode', 'sslrootcert'].map((name) => url.searchParams.get(name));
  if (mode !== 'verify-full') {
    if (file) throw new SettingsError('The URL of the database: sslrootcert needs sslmode=verify-full');
    return { url: text };
  }
  for (const name of ['sslmode', 'sslrootcert']) url.searchParams.delete(name);
  const host = url.hostname.replace(/^\[|\]$/g, '');
  if (!file) return { url: url.href, ssl: { host } };
  if (!existsSync(file))
    throw new SettingsError(`The URL of the database: sslrootcert=${file} does not exist`);
  return { url: url.href, ssl: { host, ca: readFileSync(file, 'utf8') } };
};

/** Why the certificate of a database was refused; undefined if the error has another reason. */
export const certificateFault = (error: unknown): string | undefined => {
  const codes = codesOf(error).map(({ code }) => code);
  if (codes.includes('ERR_TLS_CERT_ALTNAME_INVALID'))
    return 'The certificate of the database is for another host than that of its URL.';
  const code = codes.find((candidate) => certificateCode.test(candidate));
  return code && `The certificate of the database is not valid, or not signed by sslrootcert: ${code}.`;
};
