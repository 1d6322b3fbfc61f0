import { runProgram, UsageError } from '@platform/program';
import { parseArgs } from 'node:util';
import { writeConfig } from './config.ts';
import { imageOptions } from './options.ts';

const usage = `render --out FOLDER --options JSON: writes the nginx configuration for the gateway image
The JSON has the options in \`nginx\` of a deployment's values and the names of its services (ImageOptions).`;

await runProgram(usage, async (args) => {
  const { values } = parseArgs({ args, options: { out: { type: 'string' }, options: { type: 'string' } } });
  if (values.out === undefined || values.options === undefined)
    throw new UsageError('--out FOLDER and --options JSON are required');
  await writeConfig(values.out, imageOptions(JSON.parse(values.options)));
});
