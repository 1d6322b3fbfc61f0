import { byFormat, type Schema } from './example-values.ts';
import { Problem, problemResponse } from './problem.ts';

/** The code that most problems of a status have, for a response whose schema lists none. */
const commonCodes: Record<string, string> = {
  400: 'validation_failed',
  401: 'unauthorized',
  403: 'insufficient_scope',
  404: 'not_found',
  405: 'method_not_allowed',
  409: 'conflict',
  412: 'stale',
  413: 'too_large',
  415: 'unsupported_media_type',
  422: 'idempotency_key_reused',
  429: 'too_many_requests',
  500: 'internal_error',
  502: 'game_server_refused',
  503: 'too_busy',
};

const problemOf = (status: string, detail: string, code: string): object => {
  const errors = status === '400' ? { errors: { limit: ['must be at most 200'] } } : {};
  const problem = new Problem({ status: Number(status), code, detail, ...errors });
  return JSON.parse(problemResponse(problem, byFormat['uuid'] ?? '').body) as object;
};

/** A problem for each code of a response, or with the common one where its schema lists none. */
export const problemsOf = (
  status: string,
  { description, schema }: { description: string; schema: Schema },
  schemas: Record<string, Schema>,
  write: (schema: Schema, name: string) => unknown,
): object[] => {
  const [detail = ''] = description.split(': `');
  return (schema.anyOf ?? [schema]).flatMap((alternative) => {
    const component = schemas[alternative.$ref?.split('/').at(-1) ?? ''];
    const membersOf = component?.properties?.['code']?.enum;
    const codes = membersOf ?? alternative.allOf?.at(-1)?.properties?.['code']?.enum;
    return (codes ?? [commonCodes[status] ?? '']).map((code) => ({
      ...(membersOf && (write(alternative, '') as object)),
      ...problemOf(status, detail, String(code)),
    }));
  });
};
