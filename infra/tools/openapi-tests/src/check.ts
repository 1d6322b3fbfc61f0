import type { IncomingHttpHeaders } from 'node:http';
import { Ajv, type ErrorObject } from 'ajv';
import formats from 'ajv-formats';
import { patternOf } from './addresses.ts';
import { DOCUMENT, type Header, type OpenApi, type Operation } from './document.ts';
import type { Received, Sent } from './send.ts';

/** Headers of HTTP itself, of caches, of browsers' security and of connections, which no document describes. */
const common =
  /^(?:access-control-.*|allow|cache-control|connection|content-(?:encoding|length|security-policy|type)|cross-origin-.*|date|keep-alive|referrer-policy|server|transfer-encoding|vary|x-(?:content-type-options|frame-options))$/;

/** Says which header of a response the document lacks, or that a response lacks, or whose value its schema refuses. */
const wrongHeaders = (
  ajv: Ajv,
  { components }: OpenApi,
  described: Record<string, Header>,
  sent: IncomingHttpHeaders,
): string | undefined => {
  const known = new Map<string, Header>();
  for (const [name, header] of Object.entries(described))
    known.set(name.toLowerCase(), components.headers?.[header.$ref?.split('/').at(-1) ?? ''] ?? header);
  const unknown = Object.keys(sent).find((name) => !common.test(name) && !known.has(name));
  if (unknown !== undefined) return `has the header ${unknown}, which the document lacks`;
  for (const [name, { required, schema }] of known) {
    const value = sent[name];
    if (value === undefined && required) return `lacks the header ${name}`;
    if (value !== undefined && !ajv.compile(schema)(String(value)))
      return `has a header that its schema refuses: ${name}: ${String(value)}`;
  }
  return undefined;
};

const describeErrors = (errors: ErrorObject[] | null | undefined): string =>
  (errors ?? []).map(({ instancePath, message }) => `${instancePath || 'it'} ${message}`).join('; ');

/** Parses a body into its documents: several where each line is one, the text itself for text, else one JSON document. */
const documentsIn = (type: string, body: string, hasLines: boolean): unknown[] => {
  if (type.startsWith('text/')) return [body];
  const lines = hasLines ? body.split('\n').filter(Boolean) : [body];
  return lines.map((line) => JSON.parse(line) as unknown);
};

/** A validator as proxies have it: that of JSON Schema, which knows the formats. */
const validatorOf = ({ components }: OpenApi, coerceTypes = false): Ajv => {
  const ajv = new Ajv({ strict: false, allErrors: true, validateSchema: false, coerceTypes });
  formats.default(ajv);
  return ajv.addSchema({ components }, DOCUMENT);
};

/** Returns a function that says how a response differs from the document, or undefined when it does not. */
export const checkOf = (document: OpenApi) => {
  const ajv = validatorOf(document);

  return ({ responses }: Operation, { status, headers, body }: Received): string | undefined => {
    if (status >= 500) return `a ${status} is a fault, documented or not`;
    const described = responses[status];
    if (!described) return `the document has no ${status} here`;
    if (status === 401 && headers['www-authenticate'] === undefined)
      return 'a 401 has no WWW-Authenticate header';
    const header = wrongHeaders(ajv, document, described.headers ?? {}, headers);
    if (header !== undefined) return `the ${status} ${header}`;
    if (!described.content) return body === '' ? undefined : `the document has no body for ${status}`;
    const type = String(headers['content-type']).replace(/;.*/, '');
    const content = described.content[type];
    if (!content) return `the document has no ${type} for ${status}`;
    const { schema, 'x-itemSchema': line } = content;
    // Compiled once: Ajv remembers the schemas that it has seen.
    const validate = ajv.compile(line ?? schema);
    const wrong = documentsIn(type, body, line !== undefined).find((one) => !validate(one));
    if (wrong === undefined) return undefined;
    return `the body of this ${status} does not match its schema: ${describeErrors(validate.errors)}`;
  };
};

/** The values of the parameters by their names, which are all different. */
const valuesIn = ({ template }: Operation, { target, headers }: Sent): Record<string, string> => {
  const { pathname, searchParams } = new URL(target, 'http://service');
  const inPath = Object.entries(patternOf(template).exec(pathname)?.groups ?? {});
  const decoded = inPath.map(([name, value]) => [name, decodeURIComponent(value)]);
  return { ...headers, ...Object.fromEntries(searchParams), ...Object.fromEntries(decoded) };
};

/**
 * Returns a function that says why a validating proxy, which has only the document, would refuse a request; undefined when
 * it would not.
 */
export const refusalByDocument = (document: OpenApi) => {
  const [ajv, coercing] = [validatorOf(document), validatorOf(document, true)];
  return (operation: Operation, sent: Sent): string | undefined => {
    const parameters = coercing.compile(operation.parameterSchema);
    if (!parameters(valuesIn(operation, sent))) return `the parameters: ${describeErrors(parameters.errors)}`;
    const [type = ''] = (sent.headers['Content-Type'] ?? '').split(';');
    const content = operation.body?.[type.trim().toLowerCase()];
    if (!content || !type.endsWith('json') || type.endsWith('ndjson')) return undefined;
    const body = ajv.compile(content.schema);
    return body(JSON.parse(sent.body ?? '')) ? undefined : `the body: ${describeErrors(body.errors)}`;
  };
};
