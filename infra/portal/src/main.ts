import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { runProgram } from '@platform/program';
import { buildPortal } from './build.ts';

await runProgram(
  'build [--out FOLDER]: writes the portal into FOLDER (dist), for the option docsDir of a gateway',
  async (args) => {
    const { values } = parseArgs({
      args,
      options: { out: { type: 'string', default: resolve(import.meta.dirname, '../dist') } },
    });
    await buildPortal(resolve(values.out));
    process.stdout.write(`${resolve(values.out)}\n`);
  },
);
