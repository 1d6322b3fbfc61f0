import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A self-signed certificate for `gateway.test`, in a folder that disappears when it is disposed of. */
export const createCertificate = () => {
  const folder = mkdtempSync(join(tmpdir(), 'certificate-'));
  const [certificate, key] = [join(folder, 'tls.crt'), join(folder, 'tls.key')];
  execFileSync('openssl', [
    ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-noenc'],
    ...['-days', '1', '-subj', '/CN=gateway.test', '-addext', 'subjectAltName=DNS:gateway.test'],
    ...['-out', certificate, '-keyout', key],
  ]);
  return {
    certificate,
    key,
    ca: readFileSync(certificate, 'utf8'),
    [Symbol.dispose]: () => rmSync(folder, { recursive: true }),
  };
};
