import { parseArgs } from 'node:util';
import { writeConfig } from './files.ts';
import { imageOptions } from './options.ts';

/**
 * `--out FOLDER --options JSON`: writes the configuration of a gateway in its image. The JSON is `nginx` of the values of a
 * deployment and the names of its services (ImageOptions).
 */
try {
  const { values } = parseArgs({ options: { out: { type: 'string' }, options: { type: 'string' } } });
  if (values.out === undefined || values.options === undefined)
    throw new Error('Usage: node src/render.ts --out FOLDER --options JSON');
  await writeConfig(values.out, imageOptions(JSON.parse(values.options)));
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
