import { createRequestCheck, createResponseCheck } from './check.ts';
import { addressBook, type AddressBook } from './addresses.ts';
import { credentialsOf, send, type Credential, type Received, type Sent } from './send.ts';
import { operationsOf, parseDocument, type Operation } from './document.ts';
import type { Plan } from './plan.ts';
import { valuesOf, type KnownValues } from './values.ts';

/** A service under test. */
export interface Subject {
  /** Address of the service. */
  url: string;
  /** Path of its document (default: /openapi.json). */
  documentPath?: string;
  /** Valid credentials, by the name of the security scheme. */
  credentials: Record<string, Credential>;
  /** Valid credentials without any scope. */
  credentialsWithoutScope?: Record<string, Credential>;
  /** Paths of existing resources, in addition to those that responses name in Location. */
  paths?: string[];
  /** Values that the service accepts, by the name of the field or parameter. */
  values?: KnownValues;
  /** Responses (`operation status`) that need not occur, because requests alone cannot cause them. */
  unreachable?: string[];
  /** Operations that accept requests with any content, and report problems in the response. */
  takesAnything?: readonly string[];
  /** Time limit (ms) to refuse a caller that does not send the body; on a busy machine this takes some seconds. */
  refusalLimitMs?: number;
}

/** Turns a plan into a request, to an existing resource if the plan has chosen one. */
const requestOf = (operation: Operation, plan: Plan, book: AddressBook): Omit<Sent, 'headers'> => {
  const existing = book.for(operation);
  const chosen = plan.resource === null ? undefined : existing[plan.resource % existing.length];
  const values = chosen ?? plan.path;
  const path = operation.template.replaceAll(/\{(\w+)\}/g, (_, name: string) => values[name] ?? 'x');
  const query = plan.query.length > 0 ? `?${plan.query.join('&')}` : '';
  return { method: operation.method, target: path + query, body: plan.body };
};

/** Returns the status that refuses the caller: 401 without a valid credential, 403 without the scope; else undefined. */
const refusalStatus = ({ security, responses }: Operation, { caller }: Plan): number | undefined => {
  if (security.length === 0 || caller === 'valid') return undefined;
  if (caller !== 'without scope') return 401;
  // Whether another 403 occurs depends on the record.
  return responses['403']?.description?.includes('scope') ? 403 : undefined;
};

const describe = ({ method, target, headers, body }: Sent, { status, body: text }: Received): string =>
  [
    `${method.toUpperCase()} ${target} ${JSON.stringify(headers)}`,
    body?.slice(0, 500),
    `answered ${status}: ${text.slice(0, 500)}`,
  ].join('\n');

/** Describes a wrong Location of a new resource. Operations without authentication (registration) need none. */
const locationFault = async (
  url: string,
  { method, security }: Operation,
  sent: Sent,
  { status, headers: { location } }: Received,
): Promise<string | undefined> => {
  if (status !== 201 || method !== 'post' || security.length === 0) return undefined;
  if (location === undefined) return 'a 201 has no Location header';
  const { 'Content-Type': _type, 'Idempotency-Key': _key, ...headers } = sent.headers;
  const response = await send(url, { method: 'get', target: location, headers });
  if (response.status === 200) return undefined;
  return `GET ${location}, the Location of a 201, answered ${response.status}`;
};

/** Reads the document of a running service; returns its operations, and a client that checks each response. */
export const createCheckedClient = async (subject: Subject) => {
  const { url, documentPath = '/openapi.json', paths = [], values = {}, takesAnything = [] } = subject;
  const document = parseDocument(await (await fetch(`${url}${documentPath}`)).text());
  const operations = operationsOf(document);
  const book = addressBook(operations);
  for (const path of paths) book.add(path);
  const responseFault = createResponseCheck(document);
  const requestFault = createRequestCheck(document);
  const credentials = credentialsOf(document, subject);

  /** Sends a request; returns the status. @throws an error that describes how the response differs from the document */
  const call = async (operation: Operation, plan: Plan): Promise<number> => {
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
    const isAccepted = received.status < 300 && !takesAnything.includes(operation.id);
    const rejection = isAccepted ? requestFault(operation, sent) : undefined;
    const requiredStatus = refusalStatus(operation, plan);
    let fault: string | undefined;
    if (rejection !== undefined) fault = `the document rejects an accepted request: ${rejection}`;
    else if (requiredStatus !== undefined && received.status !== requiredStatus)
      fault = `a caller (credentials: ${plan.caller}) must get ${requiredStatus}`;
    else fault = responseFault(operation, received) ?? (await locationFault(url, operation, sent, received));
    if (fault !== undefined) throw new Error(`${fault}\n${describe(sent, received)}`);
    return received.status;
  };
  return {
    operations,
    valueOf: valuesOf(document, values),
    edgeOf: valuesOf(document, values, { withEdges: true }),
    call,
  };
};
