import { patternOf } from './addresses.ts';
import { describeErrors, validatorOf } from './check.ts';
import type { OpenApi, Operation } from './document.ts';
import type { Sent } from './send.ts';

/** The values of path, query and headers by their names; those that the document does not describe are not compared. */
const parametersOf = ({ template, parameters }: Operation, { target, headers }: Sent) => {
  const { pathname, searchParams } = new URL(target, 'http://service');
  const inPath = patternOf(template).exec(pathname)?.groups ?? {};
  return parameters.map((parameter) => {
    const { name } = parameter;
    const segment = inPath[name];
    const sent = {
      path: segment === undefined ? undefined : decodeURIComponent(segment),
      query: searchParams.get(name) ?? undefined,
      header: headers[name],
    }[parameter.in];
    return { ...parameter, sent };
  });
};

/**
 * Returns a function that says why a validating proxy, which has only the document, would refuse a request; undefined when
 * it would not.
 */
export const refusalByDocument = (document: OpenApi) => {
  const [ajv, coercing] = [validatorOf(document), validatorOf(document, true)];
  return (operation: Operation, sent: Sent): string | undefined => {
    for (const { name, in: place, required, schema, sent: value } of parametersOf(operation, sent)) {
      if (value === undefined && required) return `${place} ${name} is missing`;
      const { example: _example, ...rest } = schema;
      const validate = coercing.compile({ type: 'object', properties: { value: rest } });
      if (value !== undefined && !validate({ value }))
        return `${place} ${name}: ${describeErrors(validate.errors)}`;
    }
    const [type = ''] = (sent.headers['Content-Type'] ?? '').split(';');
    const content = operation.body?.[type.trim().toLowerCase()];
    if (!content || !type.includes('json') || type.includes('ndjson')) return undefined;
    const validate = ajv.compile(content.schema);
    return validate(JSON.parse(sent.body ?? '')) ? undefined : `the body: ${describeErrors(validate.errors)}`;
  };
};
