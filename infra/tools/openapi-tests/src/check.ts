import { Ajv, type ErrorObject } from 'ajv';
import formats from 'ajv-formats';
import { DOCUMENT, type OpenApi, type Operation } from './document.ts';
import type { Received } from './send.ts';
import { wrongHeaders } from './headers.ts';

export const describeErrors = (errors: ErrorObject[] | null | undefined): string =>
  (errors ?? []).map(({ instancePath, message }) => `${instancePath || 'it'} ${message}`).join('; ');

/** Parses a body into its documents: several where each line is one, the text itself for text, else one JSON document. */
const documentsIn = (type: string, body: string, hasLines: boolean): unknown[] => {
  if (type.startsWith('text/')) return [body];
  const lines = hasLines ? body.split('\n').filter(Boolean) : [body];
  return lines.map((line) => JSON.parse(line) as unknown);
};

/** A validator as proxies have it: that of JSON Schema, which knows the formats. */
export const validatorOf = ({ components }: OpenApi, coerceTypes = false): Ajv => {
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
