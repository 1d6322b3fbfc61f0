import { checkOf, refusalByDocument } from './check.ts';
import { addressBook, type AddressBook } from './addresses.ts';
import { credentialsOf, send, type Credential, type Received, type Sent } from './send.ts';
import { operationsOf, parseDocument, type Operation } from './document.ts';
import type { Plan } from './plan.ts';
import { valuesOf, type KnownValues } from './values.ts';

export interface Subject {
  /** Address of the service. */
  url: string;
  /** Path of its document; /openapi.json unless said otherwise. */
  documentPath?: string;
  /** Valid credentials, by the name of the security scheme. */
  credentials: Record<string, Credential>;
  /** Valid credentials without any scope. */
  credentialsWithoutScope?: Record<string, Credential>;
  /** Paths of existing resources, in addition to those that responses name in Location. */
  paths?: string[];
  /** Values that the service accepts, by the name of the field or parameter. */
  values?: KnownValues;
  /** Responses (`operation status`) that need not be seen, because requests alone cannot cause them. */
  unreachable?: string[];
  /** Operations that accept requests whatever they contain, and say in their answer what they make of them. */
  takesAnything?: readonly string[];
  /** How long (ms) an operation may take to refuse a caller whose body does not come; on a busy machine some seconds. */
  refusalLimitMs?: number;
}

/** Turns a plan into a request to one of the existing resources. */
const requestOf = (operation: Operation, plan: Plan, book: AddressBook): Omit<Sent, 'headers'> => {
  const existing = book.for(operation);
  const values =
    plan.resource === null || existing.length === 0
      ? plan.path
      : (existing[plan.resource % existing.length] ?? plan.path);
  const path = operation.template.replaceAll(/\{(\w+)\}/g, (_, name: string) => values[name] ?? 'x');
  const query = plan.query.length > 0 ? `?${plan.query.join('&')}` : '';
  return { method: operation.method, target: path + query, body: plan.body };
};

/** The documented refusal of a caller: 401 without a valid credential, 403 without the scope. */
const refusalOf = ({ security, responses }: Operation, { caller }: Plan): number | undefined => {
  if (security.length === 0 || caller === 'valid') return undefined;
  if (caller !== 'without scope') return 401;
  // Another 403 depends on the record.
  return responses['403']?.description?.includes('scope') ? 403 : undefined;
};

const describe = ({ method, target, headers, body }: Sent, { status, body: answer }: Received): string =>
  [
    `${method.toUpperCase()} ${target} ${JSON.stringify(headers)}`,
    body?.slice(0, 500),
    `answered ${status}: ${answer.slice(0, 500)}`,
  ].join('\n');

/** Says what is wrong with the Location of a new resource. Signing up has none: the account is not yet logged in. */
const wrongLocation = async (
  url: string,
  { method, security }: Operation,
  sent: Sent,
  { status, headers: { location } }: Received,
): Promise<string | undefined> => {
  if (status !== 201 || method !== 'post' || security.length === 0) return undefined;
  if (location === undefined) return 'a 201 has no Location header';
  const { 'Content-Type': _type, 'Idempotency-Key': _key, ...headers } = sent.headers;
  const response = await send(url, { method: 'get', target: location, headers });
  return response.status === 200
    ? undefined
    : `GET ${location}, the Location of a 201, answered ${response.status}`;
};

/** The operations of a running service, and how they are asked. */
interface Examination {
  operations: Operation[];
  valueOf: ReturnType<typeof valuesOf>;
  /** As `valueOf`, with values at the edges of what the document allows, and just beyond. */
  edgeOf: ReturnType<typeof valuesOf>;
  /** Sends a request and resolves with the status. Throws an Error that says how the response differs from the document. */
  ask: (operation: Operation, plan: Plan) => Promise<number>;
}

/** Reads the document of a service. */
export const openExamination = async (subject: Subject): Promise<Examination> => {
  const { url, documentPath = '/openapi.json', paths = [], values = {}, takesAnything = [] } = subject;
  const document = parseDocument(await (await fetch(`${url}${documentPath}`)).text());
  const operations = operationsOf(document);
  const book = addressBook(operations);
  for (const path of paths) book.add(path);
  const check = checkOf(document);
  const refusal = refusalByDocument(document);
  const credentials = credentialsOf(document, subject);

  const ask = async (operation: Operation, plan: Plan): Promise<number> => {
    const unsigned = requestOf(operation, plan, book);
    const headers = {
      Host: 'service.example.test',
      ...plan.headers,
      ...(plan.type === undefined ? {} : { 'Content-Type': plan.type }),
      ...credentials(operation, plan, unsigned),
    };
    const sent = { ...unsigned, headers };
    const received = await send(url, sent);
    const location = received.headers['location'];
    if (received.status === 201 && location !== undefined) book.add(location);
    const promised = refusalOf(operation, plan);
    const refused =
      received.status < 300 && !takesAnything.includes(operation.id) ? refusal(operation, sent) : undefined;
    if (refused !== undefined)
      throw new Error(`the document refuses what is accepted: ${refused}\n${describe(sent, received)}`);
    const wrong =
      promised === undefined || received.status === promised
        ? (check(operation, received) ?? (await wrongLocation(url, operation, sent, received)))
        : `a caller (credentials: ${plan.caller}) must get ${promised}`;
    if (wrong) throw new Error(`${wrong}\n${describe(sent, received)}`);
    return received.status;
  };
  return { operations, valueOf: valuesOf(document, values), edgeOf: valuesOf(document, values, true), ask };
};
