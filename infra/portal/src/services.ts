import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { routes, services as names } from '@platform/gateway/routes';
import { purposes } from './purposes.ts';

/** A service as the portal shows it. */
export interface ServiceCard {
  name: string;
  title: string;
  /** What it is for, in a sentence. */
  purpose: string;
  /** Who calls it, and what they show; empty where nobody has said. */
  callers: string;
  /** Paths at the gateway. */
  addresses: string[];
}

const root = resolve(import.meta.dirname, '../../../services');

interface Document {
  info: { title: string; description: string };
  paths: Record<string, { get?: { parameters?: { name: string; schema: { enum?: string[] } }[] } }>;
}

const documentOf = async (name: string): Promise<Document> =>
  JSON.parse(await readFile(resolve(root, name, 'openapi.json'), 'utf8')) as Document;

/** The services that the gateway knows, described by their own OpenAPI documents; in the order of the gateway's list. */
export const describeServices = (): Promise<ServiceCard[]> =>
  Promise.all(
    names.map(async (name) => {
      const { info } = await documentOf(name);
      const own = routes.filter((route) => route.service === name && !route.exact);
      return {
        name,
        title: info.title,
        ...(purposes[name] ?? { purpose: info.description, callers: '' }),
        addresses: own.map(({ path }) => path),
      };
    }),
  );

/** The values that the list of webhooks can be filtered by. */
export const eventFilters = async (): Promise<Record<'status' | 'event', string[]>> => {
  const { paths } = await documentOf('store-webhooks');
  const parameters = paths['/v1/stores/{id}/events']?.get?.parameters ?? [];
  const valuesOf = (wanted: string): string[] =>
    parameters.find(({ name }) => name === wanted)?.schema.enum ?? [];
  return { status: valuesOf('status'), event: valuesOf('event') };
};
