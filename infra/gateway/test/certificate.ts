import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { generate } from 'selfsigned';

/** Creates a self-signed certificate for `gateway.test`. Disposal removes its files. */
export const createCertificate = async () => {
  const { cert, private: privateKey } = await generate([{ name: 'commonName', value: 'gateway.test' }], {
    keyType: 'ec',
    curve: 'P-256',
    algorithm: 'sha256',
  });
  const folder = await mkdtemp(join(tmpdir(), 'certificate-'));
  const [certificate, key] = [join(folder, 'tls.crt'), join(folder, 'tls.key')];
  await writeFile(certificate, cert);
  await writeFile(key, privateKey);
  return {
    /** Paths of the certificate and of its key. */
    files: { certificate, key },
    /** The certificate as trusted CA for a client. */
    ca: cert,
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true }),
  };
};
