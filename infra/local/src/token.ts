import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { runProgram, UsageError } from '@platform/program';
import { audienceOf, openSigner } from './keys.ts';
import { ROOT } from './options.ts';
import { print } from './print.ts';

const usage = `token --scope "one two" […]: prints an access token that the platform on this machine accepts
  --subject NAME     its subject (demo-admin)
  --cell NAME        for this cell instead of the first one
  --ttl 15m|12h|30d  how long it is valid (12h)
  --stores ID,ID     limits it to these stores
  --clients ID,ID    limits it to these clients
  --local FOLDER     data of the platform (.local)`;

await runProgram(usage, async (args) => {
  const { values } = parseArgs({
    args,
    options: {
      scope: { type: 'string' },
      subject: { type: 'string', default: 'demo-admin' },
      cell: { type: 'string' },
      ttl: { type: 'string', default: '12h' },
      stores: { type: 'string' },
      clients: { type: 'string' },
      local: { type: 'string', default: join(ROOT, '.local') },
    },
  });
  const { scope, subject, cell, ttl, local } = values;
  if (scope === undefined) throw new UsageError('--scope is missing');
  if (!/^[1-9]\d{0,5}[smhd]$/.test(ttl))
    throw new UsageError(`--ttl must be like 15m, 12h or 30d, not "${ttl}"`);
  const keys = join(local, 'keys');
  await mkdir(keys, { recursive: true, mode: 0o700 });
  const [stores, clients] = [values.stores, values.clients].map((ids) => ids?.split(','));
  const audience = [audienceOf({ prefix: cell === undefined ? '' : `/cells/${cell}` })];
  print(await (await openSigner(keys)).sign({ audience, scope, subject, ttl, stores, clients }));
});
