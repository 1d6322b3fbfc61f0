/** `pnpm token --scope "a b" [--subject …] [--ttl …] [--stores …] [--clients …]`: prints an access token that the local stack takes. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { openSigner } from './keys.ts';
import { ROOT } from './options.ts';
import { say } from './say.ts';

const USAGE =
  'usage: npx -y pnpm@10.34.9 -s run token --scope "one two" [--subject demo-admin] [--ttl 15m|12h|30d] [--stores ID,ID] [--clients ID,ID]';

const printToken = async (): Promise<void> => {
  const { values } = parseArgs({
    options: {
      scope: { type: 'string' },
      subject: { type: 'string', default: 'demo-admin' },
      ttl: { type: 'string', default: '12h' },
      stores: { type: 'string' },
      clients: { type: 'string' },
      local: { type: 'string', default: join(ROOT, '.local') },
    },
  });
  const { scope, subject, ttl, local } = values;
  if (scope === undefined) throw new Error('--scope is missing');
  if (!/^[1-9]\d{0,5}[smhd]$/.test(ttl)) throw new Error(`--ttl must be like 15m, 12h or 30d, not "${ttl}"`);
  const keys = join(local, 'keys');
  await mkdir(keys, { recursive: true, mode: 0o700 });
  const [stores, clients] = [values.stores, values.clients].map((ids) => ids?.split(','));
  say(await (await openSigner(keys)).sign({ scope, subject, ttl, stores, clients }));
};

try {
  await printToken();
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n${USAGE}\n`);
  process.exitCode = 2;
}
