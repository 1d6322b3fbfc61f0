import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { services } from '@platform/service-list';

/** A service as the portal shows it. */
export interface ServiceCard {
  name: string;
  title: string;
  /** Its purpose, in one sentence. */
  purpose: string;
  /** Callers and their credentials. */
  callers: string;
  /** Paths at the gateway. */
  addresses: string[];
}

const root = resolve(import.meta.dirname, '../../../services');

/** A schema of an OpenAPI document, as far as it is read here. */
interface Schema {
  default?: string;
  properties?: Record<string, Schema>;
  required?: string[];
  enum?: string[];
  items?: Schema;
  anyOf?: Schema[];
}

interface Document {
  info: { title: string };
  paths: Record<
    string,
    {
      get?: { parameters?: { name: string; schema: Schema }[] };
      patch?: { requestBody?: { content: Record<string, { schema: Schema }> } };
    }
  >;
  components?: { schemas?: Record<string, Schema> };
}

const documentOf = async (name: string): Promise<Document> =>
  JSON.parse(await readFile(resolve(root, name, 'openapi.json'), 'utf8')) as Document;

/** The services of services.yaml, in its order, with the titles of their OpenAPI documents. */
export const describeServices = (): Promise<ServiceCard[]> =>
  Promise.all(
    services.map(async ({ name, purpose, callers, paths }) => ({
      name,
      title: (await documentOf(name)).info.title,
      purpose,
      callers,
      addresses: paths.filter(({ exact }) => !exact).map(({ path }) => path),
    })),
  );

/** Values of the filters of the list of webhooks. */
export const eventFilters = async (): Promise<Record<'status' | 'event', string[]>> => {
  const { paths } = await documentOf('store-webhooks');
  const parameters = paths['/v1/stores/{storeId}/events']?.get?.parameters ?? [];
  const valuesOf = (wanted: string): string[] =>
    parameters.find(({ name }) => name === wanted)?.schema.enum ?? [];
  return { status: valuesOf('status'), event: valuesOf('event') };
};

/** The fields of a line of a statement for reconciliations. */
export const statementFields = async (): Promise<{ name: string; isNeeded: boolean }[]> => {
  const { components } = await documentOf('wallet-operator');
  const { properties = {}, required = [] } = components?.schemas?.['StatementLine'] ?? {};
  return Object.keys(properties).map((name) => ({ name, isNeeded: required.includes(name) }));
};

/** The kinds in the schema of one provider, or of several. */
const kindsIn = ({ properties, items, anyOf = [] }: Schema): string[] =>
  properties?.['kind']?.enum ?? [...(items ? [items] : []), ...anyOf].flatMap(kindsIn);

/** The kinds of providers that a store can have, by the field of the store. */
export const providerKinds = async (): Promise<Record<string, readonly string[]>> => {
  const { paths } = await documentOf('store-webhooks');
  const body = paths['/v1/stores/{storeId}']?.patch?.requestBody?.content['application/json'];
  return Object.fromEntries(
    Object.entries(body?.schema.properties ?? {})
      .map(([name, schema]) => [name, [...new Set(kindsIn(schema))]] as const)
      .filter(([, kinds]) => kinds.length > 0),
  );
};

const propertiesOf = ({ properties = {} }: Schema = {}): [string, Schema][] => Object.entries(properties);

/** The fields that a mapping of a generic POS can name, by record, each with the pointer of one that is not named. */
export const mappedFields = async (): Promise<Record<string, { name: string; initial?: string }[]>> => {
  const { components } = await documentOf('store-webhooks');
  return Object.fromEntries(
    propertiesOf(components?.schemas?.['Mapping']).map(([record, fields]) => [
      record,
      propertiesOf(fields).map(([name, { default: initial }]) => ({ name, ...(initial && { initial }) })),
    ]),
  );
};
