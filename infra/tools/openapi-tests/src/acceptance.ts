import { patternOf } from './addresses.ts';
import { describeErrors, validatorOf } from './check.ts';
import type { OpenApi, Operation } from './document.ts';
import type { Sent } from './send.ts';

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
