/** Generates the types of all services from their committed OpenAPI documents; git ignores them. */
import { existsSync, readdirSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import openapiTypescript, { astToString } from 'openapi-typescript';

const services = new URL('../../../services/', import.meta.url);
const folder = new URL('../src/generated/', import.meta.url);
const names = readdirSync(services).filter((name) => existsSync(new URL(`${name}/openapi.json`, services)));

await mkdir(folder, { recursive: true });
for (const name of names) {
  const nodes = await openapiTypescript(new URL(`${name}/openapi.json`, services), {
    defaultNonNullable: false,
  });
  const types = `/** Generated from the openapi.json of ${name} by scripts/generate.ts. */\n${astToString(nodes)}`;
  const file = new URL(`${name}.ts`, folder);
  // The first time there is no file.
  const written = await readFile(file, 'utf8').catch(() => '');
  // An unchanged file stays, because a compiler that runs meanwhile must not read half of it.
  if (written !== types) await writeFile(file, types);
}
