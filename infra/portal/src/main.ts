/** `pnpm --filter @platform/portal build [--out FOLDER]`: writes the portal for a gateway's --docs-dir. */
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { buildPortal } from './build.ts';

const { values } = parseArgs({
  options: { out: { type: 'string', default: resolve(import.meta.dirname, '../dist') } },
});
await buildPortal(resolve(values.out));
process.stdout.write(`${resolve(values.out)}\n`);
