import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { services } from '@platform/service-list';
import { parse } from 'yaml';

/** Data of a service that the portal shows. */
export interface ServiceCard {
  name: string;
  title: string;
  /** Its purpose, in one sentence. */
  purpose: string;
  /** Callers and their credentials. */
  callers: string;
  /** Its paths at the gateway. */
  addresses: string[];
  /** Its cells except the first one. */
  cells: string[];
  /** Its lists to which clients can subscribe. */
  lists: string[];
}

const root = resolve(import.meta.dirname, '../../../services');

/** The fields of a schema in an OpenAPI document that are used here. */
interface Schema {
  default?: string;
  properties?: Record<string, Schema>;
  required?: string[];
  enum?: string[];
  items?: Schema;
}

interface Document {
  info: { title: string };
  paths: Record<string, { get?: { parameters?: { name: string; schema: Schema }[] } }>;
  components?: { schemas?: Record<string, Schema> };
}

const documentOf = async (name: string): Promise<Document> =>
  JSON.parse(await readFile(resolve(root, name, 'openapi.json'), 'utf8')) as Document;

/** Returns a named schema of a document. @throws if there is none, because a view would lack its options */
const schemaOf = ({ info, components }: Document, name: string): Schema => {
  const schema = components?.schemas?.[name];
  if (schema === undefined) throw new Error(`the document "${info.title}" has no schema ${name}`);
  return schema;
};

const listsOf = ({ components }: Document): string[] =>
  components?.schemas?.['SubscriptionInput']?.properties?.['lists']?.items?.enum ?? [];

/** Describes the services of services.yaml, in its order, with the titles of their OpenAPI documents. */
export const describeServices = (): Promise<ServiceCard[]> =>
  Promise.all(
    services.map(async ({ name, purpose, callers, paths, cells }) => ({
      name,
      title: (await documentOf(name)).info.title,
      purpose,
      callers,
      addresses: paths.filter(({ exact }) => !exact).map(({ path }) => path),
      cells,
      lists: listsOf(await documentOf(name)),
    })),
  );

const propertiesOf = ({ properties = {} }: Schema): [string, Schema][] => Object.entries(properties);

/** Reads options and fields of views from the OpenAPI documents of the services. */
export const readChoices = async () => {
  const webhooks = await documentOf('store-webhooks');
  const statementLine = schemaOf(await documentOf('wallet-operator'), 'StatementLine');
  const filters = webhooks.paths['/v1/stores/{storeId}/events']?.get?.parameters ?? [];
  const filterValues = (filter: string): string[] =>
    filters.find(({ name }) => name === filter)?.schema.enum ?? [];
  const kindsOf = (schema: string): string[] => schemaOf(webhooks, schema).properties?.['kind']?.enum ?? [];
  return {
    /** Values of the filters of the list of webhooks. */
    events: { status: filterValues('status'), event: filterValues('event') },
    /** The fields of a statement line for reconciliations. */
    statementFields: propertiesOf(statementLine).map(([name]) => ({
      name,
      isRequired: statementLine.required?.includes(name) ?? false,
    })),
    /** The provider kinds of a store, by the field of the store. */
    providerKinds: {
      pos: kindsOf('PosProvider'),
      delivery: kindsOf('DeliveryProvider'),
      identity: kindsOf('IdentityProvider'),
      payments: kindsOf('PaymentProvider'),
    },
    /** The fields that a mapping of a generic POS can set, by record, each with its default pointer. */
    mappedFields: Object.fromEntries(
      propertiesOf(schemaOf(webhooks, 'Mapping')).map(([record, fields]) => [
        record,
        propertiesOf(fields).map(([name, { default: defaultPointer }]) => ({
          name,
          ...(defaultPointer && { defaultPointer }),
        })),
      ]),
    ),
  };
};

export type Choices = Awaited<ReturnType<typeof readChoices>>;

/** Texts of an alert in the rules of Prometheus. */
export interface AlertText {
  severity: 'page' | 'ticket';
  /** Predicate for several affected services, such as `have lost Redis`. */
  plural?: string | undefined;
  /** Instruction for the person on duty. */
  action: string;
  /** Section of a guide, such as `docs/deploy.md#logs`. */
  guide: string;
}

interface Rule {
  alert: string;
  labels: { severity: AlertText['severity'] };
  annotations: Omit<AlertText, 'severity'>;
}

const file = resolve(import.meta.dirname, '../../deploy/observability/alerts.yaml');

/** Reads the texts of all alerts of alerts.yaml, by alert name. */
export const readAlertTexts = async (): Promise<Record<string, AlertText>> => {
  const { groups } = parse(await readFile(file, 'utf8')) as { groups: { rules: Rule[] }[] };
  const texts = groups.flatMap(({ rules }) =>
    rules.map(({ alert, labels: { severity }, annotations: { action, guide, plural } }) => [
      alert,
      { severity, action, guide, plural },
    ]),
  );
  return Object.fromEntries(texts) as Record<string, AlertText>;
};
