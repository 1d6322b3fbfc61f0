import { crc32 } from 'node:zlib';
import fc from 'fast-check';
import { addressBook, type AddressBook } from './addresses.ts';
import { checkOf } from './check.ts';
import { credentialsOf, type Credential } from './credentials.ts';
import { operationsOf, type OpenApi, type Operation } from './document.ts';
import { runSettings } from './env.ts';
import { plansOf, certainPlansOf, type Plan } from './plan.ts';
import { send, type Received, type Sent } from './send.ts';
import { missingResponses } from './missing-responses.ts';
import { waitsForBody } from './waits-for-body.ts';
import { valuesOf, type KnownValues } from './values.ts';

export interface Subject {
  /** Address of the service; its document is at /openapi.json. */
  url: string;
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
}

/** Attempts at each required response: some valid requests are refused for reasons that no schema can express. */
const ROUNDS = 8;

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
  return '403' in responses ? 403 : undefined;
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
  const found = await send(url, { method: 'get', target: location, headers });
  return found.status === 200
    ? undefined
    : `GET ${location}, the Location of a 201, answered ${found.status}`;
};

/**
 * Sends valid and invalid requests to every operation of a running service and compares each response with the document:
 * a documented status below 500, its media type, its schema, 401 and 403 where they are documented, 401 before the body
 * is read and with WWW-Authenticate, and a Location that answers GET in the 201 of every POST.
 * @returns one text for each fault, and for each documented response that was never seen
 */
export const exercise = async (subject: Subject): Promise<string[]> => {
  const { url, paths = [], values = {}, unreachable = [] } = subject;
  const document = (await (await fetch(`${url}/openapi.json`)).json()) as OpenApi;
  const operations = operationsOf(document);
  const book = addressBook(operations);
  for (const path of paths) book.add(path);
  const valueOf = valuesOf(document, values);
  const check = checkOf(document);
  const credentials = credentialsOf(document, subject);
  const seen = new Map<string, Set<number>>(operations.map(({ id }) => [id, new Set()]));
  const { seed, runs } = runSettings();

  const ask = async (operation: Operation, plan: Plan): Promise<void> => {
    const unsigned = requestOf(operation, plan, book);
    const headers = {
      Host: 'service.example.test',
      ...plan.headers,
      ...(plan.type === undefined ? {} : { 'Content-Type': plan.type }),
      ...credentials(operation, plan, unsigned),
    };
    const sent = { ...unsigned, headers };
    const received = await send(url, sent);
    seen.get(operation.id)?.add(received.status);
    const location = received.headers['location'];
    if (received.status === 201 && location !== undefined) book.add(location);
    const promised = refusalOf(operation, plan);
    const wrong =
      promised === undefined || received.status === promised
        ? (check(operation, received) ?? (await wrongLocation(url, operation, sent, received)))
        : `a caller (credentials: ${plan.caller}) must get ${promised}`;
    if (wrong) throw new Error(`${wrong}\n${describe(sent, received)}`);
  };

  const faults: string[] = [];
  const checkProperty = async (
    operation: Operation,
    plans: fc.Arbitrary<Plan[]>,
    numRuns: number,
  ): Promise<void> => {
    const property = fc.asyncProperty(plans, async (all) => {
      for (const plan of all) await ask(operation, plan);
    });
    // With one seed for all, every operation would generate the same ids.
    const own = { seed: seed + crc32(operation.id), numRuns };
    const { failed, errorInstance } = await fc.check(property, own);
    if (failed) faults.push(`${operation.id} (EXERCISE_SEED=${seed}): ${String(errorInstance)}`);
  };
  for (const operation of operations) {
    await checkProperty(
      operation,
      plansOf(operation, valueOf).map((plan) => [plan]),
      runs,
    );
    await checkProperty(operation, certainPlansOf(operation, valueOf), ROUNDS);
  }
  return [
    ...faults,
    ...missingResponses(operations, seen, unreachable),
    ...(await waitsForBody(url, operations, subject.credentials)),
  ];
};
