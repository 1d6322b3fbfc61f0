import type { IncomingHttpHeaders } from 'node:http';
import { Ajv, type ErrorObject } from 'ajv';
import formats from 'ajv-formats';
import { patternOf } from './addresses.ts';
import { DOCUMENT, type Header, type OpenApi, type Operation } from './document.ts';
import type { Received, Sent } from './send.ts';

/** Headers of HTTP, caching, browser security and connections, which documents need not describe. */
const commonHeaders =
  /^(?:access-control-.*|allow|cache-control|connection|content-(?:encoding|length|security-policy|type)|cross-origin-.*|date|keep-alive|referrer-policy|server|transfer-encoding|vary|x-(?:content-type-options|frame-options))$/;

/** Describes a header that the document or the response lacks, or whose value does not match its schema. */
const headerFault = (
  ajv: Ajv,
  { components }: OpenApi,
  documentedHeaders: Record<string, Header>,
  received: IncomingHttpHeaders,
): string | undefined => {
  const documented = new Map<string, Header>();
  for (const [name, header] of Object.entries(documentedHeaders)) {
    const referenced = components.headers?.[header.$ref?.split('/').at(-1) ?? ''];
    documented.set(name.toLowerCase(), referenced ?? header);
  }
  const unknown = Object.keys(received).find((name) => !commonHeaders.test(name) && !documented.has(name));
  if (unknown !== undefined) return `has the header ${unknown}, which the document lacks`;
  for (const [name, { required, schema }] of documented) {
    const value = received[name];
    if (value === undefined && required) return `lacks the header ${name}`;
    if (value !== undefined && !ajv.compile(schema)(String(value)))
      return `has a header that does not match its schema: ${name}: ${String(value)}`;
  }
  return undefined;
};

const describeErrors = (errors: ErrorObject[] | null | undefined): string =>
  (errors ?? []).map(({ instancePath, message }) => `${instancePath || 'the value'} ${message}`).join('; ');

/** Parses a body into values: one for each line of NDJSON, the text itself for text, else one JSON value. */
const parseBody = (type: string, body: string, isNdjson: boolean): unknown[] => {
  if (type.startsWith('text/')) return [body];
  const lines = isNdjson ? body.split('\n').filter(Boolean) : [body];
  return lines.map((line) => JSON.parse(line) as unknown);
};

/** Creates a JSON Schema validator that checks formats, as validating proxies do. */
const createValidator = ({ components }: OpenApi, { coerceTypes = false } = {}): Ajv => {
  const ajv = new Ajv({ strict: false, allErrors: true, validateSchema: false, coerceTypes });
  formats.default(ajv);
  return ajv.addSchema({ components }, DOCUMENT);
};

/** Returns a function that describes how a response differs from the document; undefined when it matches. */
export const createResponseCheck = (document: OpenApi) => {
  const ajv = createValidator(document);

  return ({ responses }: Operation, { status, headers, body }: Received): string | undefined => {
    if (status >= 500) return `a ${status} is a fault, even when it is documented`;
    const documented = responses[status];
    if (!documented) return `the document has no ${status} here`;
    if (status === 401 && headers['www-authenticate'] === undefined)
      return 'a 401 has no WWW-Authenticate header';
    const header = headerFault(ajv, document, documented.headers ?? {}, headers);
    if (header !== undefined) return `the ${status} ${header}`;
    if (!documented.content) return body === '' ? undefined : `the document has no body for ${status}`;
    const type = String(headers['content-type']).replace(/;.*/, '');
    const content = documented.content[type];
    if (!content) return `the document has no ${type} for ${status}`;
    const { schema, 'x-itemSchema': lineSchema } = content;
    // Ajv caches compiled schemas.
    const validate = ajv.compile(lineSchema ?? schema);
    const invalid = parseBody(type, body, lineSchema !== undefined).find((value) => !validate(value));
    if (invalid === undefined) return undefined;
    return `the body of this ${status} does not match its schema: ${describeErrors(validate.errors)}`;
  };
};

/** Returns the values of a request's parameters by name; the names of an operation's parameters are unique. */
const parameterValues = ({ template }: Operation, { target, headers }: Sent): Record<string, string> => {
  const { pathname, searchParams } = new URL(target, 'http://service');
  const inPath = Object.entries(patternOf(template).exec(pathname)?.groups ?? {});
  const decoded = inPath.map(([name, value]) => [name, decodeURIComponent(value)]);
  return { ...headers, ...Object.fromEntries(searchParams), ...Object.fromEntries(decoded) };
};

/**
 * Returns a function that describes why a validating proxy, which has only the document, would reject a request; undefined
 * when the request matches the document.
 */
export const createRequestCheck = (document: OpenApi) => {
  const ajv = createValidator(document);
  const coercingAjv = createValidator(document, { coerceTypes: true });
  return (operation: Operation, sent: Sent): string | undefined => {
    const areValid = coercingAjv.compile(operation.parameterSchema);
    if (!areValid(parameterValues(operation, sent)))
      return `the parameters: ${describeErrors(areValid.errors)}`;
    const [type = ''] = (sent.headers['Content-Type'] ?? '').split(';');
    const content = operation.body?.[type.trim().toLowerCase()];
    if (!content || !type.endsWith('json') || type.endsWith('ndjson')) return undefined;
    const isValid = ajv.compile(content.schema);
    return isValid(JSON.parse(sent.body ?? '')) ? undefined : `the body: ${describeErrors(isValid.errors)}`;
  };
};
