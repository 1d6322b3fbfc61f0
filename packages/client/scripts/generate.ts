/**
 * Generates the types of all services from their committed OpenAPI documents. Without `--write` it compares the
 * result with the committed types and fails when they differ.
 */
import { existsSync, readdirSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { syncFile } from '@platform/service-kit/openapi-file';
import openapiTypescript, { astToString } from 'openapi-typescript';

const services = new URL('../../../services/', import.meta.url);
const folder = new URL('../src/generated/', import.meta.url);
const names = readdirSync(services).filter((name) => existsSync(new URL(`${name}/openapi.json`, services)));

const typesOf = async (name: string): Promise<string> => {
  const nodes = await openapiTypescript(new URL(`${name}/openapi.json`, services), {
    defaultNonNullable: false,
  });
  return `/** Generated from the openapi.json of ${name} by scripts/generate.ts; do not edit. */\n${astToString(nodes)}`;
};

const write = process.argv.includes('--write');
await mkdir(folder, { recursive: true });
const reason =
  'does not match the OpenAPI document; run: npx -y pnpm@10.34.9 --filter @platform/client generate.';
for (const name of names) await syncFile(new URL(`${name}.ts`, folder), await typesOf(name), write, reason);
