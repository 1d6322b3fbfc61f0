/**
 * Generates the types of all services from their committed OpenAPI documents. Without `--write` it compares the
 * result with the committed types and fails when they differ.
 */
import { existsSync, readdirSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import openapiTypescript, { astToString } from 'openapi-typescript';

const services = new URL('../../../services/', import.meta.url);
const folder = join(import.meta.dirname, '../src/generated');
const names = readdirSync(services).filter((name) => existsSync(new URL(`${name}/openapi.json`, services)));

const typesOf = async (name: string): Promise<string> => {
  const nodes = await openapiTypescript(new URL(`${name}/openapi.json`, services), {
    defaultNonNullable: false,
  });
  return `/** Generated from the openapi.json of ${name} by scripts/generate.ts; do not edit. */\n${astToString(nodes)}`;
};

const write = process.argv.includes('--write');
await mkdir(folder, { recursive: true });
for (const name of names) {
  const file = join(folder, `${name}.ts`);
  const current = await typesOf(name);
  if (write) await writeFile(file, current);
  else if ((await readFile(file, 'utf8').catch(() => '')) !== current) {
    throw new Error(
      `${basename(file)} does not match the OpenAPI document; run: npx -y pnpm@10.34.9 --filter @platform/client generate.`,
    );
  }
}
