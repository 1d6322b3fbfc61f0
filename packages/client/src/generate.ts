/**
 * Writes the types of the six services from their committed OpenAPI documents; without `--write` it only compares.
 * The documents are read as files: the client depends on no service.
 */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import openapiTypescript, { astToString } from 'openapi-typescript';

const services = new URL('../../../services/', import.meta.url);
const folder = join(import.meta.dirname, 'generated');
const names = [
  'task-manager',
  'quest-service',
  'store-webhooks',
  'wallet-operator',
  'verify-projects',
  'consignments',
];

const typesOf = async (name: string): Promise<string> => {
  const nodes = await openapiTypescript(new URL(`${name}/openapi.json`, services), {
    defaultNonNullable: false,
  });
  return `/** Made by generate.ts from ${name}'s openapi.json; changes are lost. */\n${astToString(nodes)}`;
};

const write = process.argv.includes('--write');
await mkdir(folder, { recursive: true });
for (const name of names) {
  const file = join(folder, `${name}.ts`);
  const current = await typesOf(name);
  if (write) await writeFile(file, current);
  else if ((await readFile(file, 'utf8').catch(() => '')) !== current) {
    throw new Error(
      `${basename(file)} does not match the OpenAPI document; run the generate script of this package.`,
    );
  }
}
