import { generateKeyPairSync } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { parseArgs } from 'node:util';
import { runProgram } from '@platform/program';
import { createLog } from '@platform/service-kit/log';
import { createMetrics } from '@platform/service-kit/metrics';
import { services } from '@platform/service-list';

const folder = process.cwd();
const { secrets = [], keys = [] } = services.find(({ name }) => name === basename(folder)) ?? {};
const key = JSON.stringify(generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' }));

/** Settings that suffice to create the routes; nothing connects to these addresses. */
const variables = {
  PORT: '0',
  DATABASE_URL: 'postgres://offline@127.0.0.1:1/offline',
  AUTH_JWKS: 'offline.json',
  AUTH_ISSUER: 'offline',
  AUTH_AUDIENCE: 'offline',
  ...Object.fromEntries(secrets.map((name) => [name, '0'.repeat(64)])),
  ...Object.fromEntries(keys.map((name) => [name, key])),
};

interface Service {
  parseEnv(variables: Record<string, string>): unknown;
  createContext(env: unknown, parts: object): AsyncDisposable | Promise<AsyncDisposable>;
  createApp(context: unknown): { document: () => object };
}

const usage = `openapi --write: writes openapi.json of the service in the current folder from its routes
Without --write it fails when the file differs.`;

await runProgram(usage, async (args) => {
  const { values } = parseArgs({ args, options: { write: { type: 'boolean' } } });
  const modules = ['env', 'context', 'app'].map((name) => import(join(folder, `src/${name}.ts`)));
  const { parseEnv, createContext, createApp }: Service = Object.assign({}, ...(await Promise.all(modules)));
  const parts = { log: createLog('openapi', 'silent'), metrics: createMetrics() };
  await using context = await createContext(parseEnv(variables), parts);
  const text = `${JSON.stringify(createApp(context).document(), null, 2)}\n`;

  const file = join(folder, 'openapi.json');
  const isCurrent = (await readFile(file, 'utf8').catch(() => '')) === text;
  if (values.write) {
    // Writing an unchanged file would restart programs that watch it.
    if (!isCurrent) await writeFile(file, text);
    process.stdout.write(`openapi.json: ${isCurrent ? 'unchanged' : 'written'}\n`);
  } else if (!isCurrent) {
    process.stderr.write('openapi.json does not match the routes; run the openapi script of this service.\n');
    process.exitCode = 1;
  }
});
