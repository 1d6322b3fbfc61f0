/** `node spectral.ts FILE…`: lints OpenAPI documents with Spectral's OpenAPI rules; a warning fails, too. */
import { readFile } from 'node:fs/promises';
import core, { type RulesetDefinition } from '@stoplight/spectral-core';
import parsers from '@stoplight/spectral-parsers';
import rulesets from '@stoplight/spectral-rulesets';

const spectral = new core.Spectral();
// The package's own type of its rules lacks the optional fields.
spectral.setRuleset({ extends: [rulesets.oas as unknown as RulesetDefinition] });

for (const file of process.argv.slice(2)) {
  const document = new core.Document(await readFile(file, 'utf8'), parsers.Json, file);
  for (const { code, message, path, range } of await spectral.run(document)) {
    process.stderr.write(`${file}:${range.start.line + 1} ${code}: ${message} (${path.join('.')})\n`);
    process.exitCode = 1;
  }
}
