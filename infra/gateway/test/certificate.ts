import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { generate } from 'selfsigned';

/** A self-signed certificate for `gateway.test`, in files that disappear when it is disposed of. */
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
    /** Paths of the files. */
    files: { certificate, key },
    /** For the client. */
    ca: cert,
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true }),
  };
};
