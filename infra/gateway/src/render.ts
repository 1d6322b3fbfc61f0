import { runProgram, UsageError } from '@platform/program';
import { parseArgs } from 'node:util';
import { writeConfig } from './config.ts';
import { imageOptions } from './options.ts';

const usage = `render --out FOLDER --options JSON: writes the configuration of a gateway in its image
The JSON is \`nginx\` of the values of a deployment and the names of its services (ImageOptions).`;

await runProgram(usage, async (args) => {
  const { values } = parseArgs({ args, options: { out: { type: 'string' }, options: { type: 'string' } } });
  if (values.out === undefined || values.options === undefined)
    throw new UsageError('--out FOLDER and --options JSON are needed');
  await writeConfig(values.out, imageOptions(JSON.parse(values.options)));
});
