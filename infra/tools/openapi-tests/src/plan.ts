import fc, { type Arbitrary } from 'fast-check';
import type { Operation, Parameter, Schema } from './document.ts';
import { brokenEscapes, brokenTexts, brokenValues, mutated } from './mutations.ts';

/** Which credentials a request has. */
export type Caller = 'valid' | 'none' | 'invalid' | 'without scope';

/** A request before an existing resource is chosen. Path and query are percent-encoded. */
export interface Plan {
  caller: Caller;
  /** Index of the authentication alternative, modulo their number. */
  alternative: number;
  /** Index of the existing resource, modulo their number; null: use `path`. */
  resource: number | null;
  path: Record<string, string>;
  query: string[];
  headers: Record<string, string>;
  type: string | undefined;
  body: string | undefined;
}

type ValueOf = (schema: Schema, name?: string) => Arbitrary<unknown>;

const encoded = (value: unknown): string => encodeURIComponent(String(value).toWellFormed());
/** Replaces values that would change the path: empty ones and dot segments. */
const segment = (value: unknown): string => encoded(value).replace(/^\.{0,2}$/, 'x');

const parametersIn = ({ parameters }: Operation, location: Parameter['in']): Parameter[] =>
  parameters.filter((parameter) => parameter.in === location);

/** Serialises a value for a media type; a string for text or NDJSON stays as it is. */
const serialize = (type: string, value: unknown): string => {
  if (typeof value === 'string' && /^text\/|ndjson$/.test(type)) return value;
  if (type !== 'application/x-www-form-urlencoded') return JSON.stringify(value) ?? '';
  const pairs = Object.entries(value ?? {}).map(([name, item]): [string, string] => [
    name,
    typeof item === 'string' ? item : JSON.stringify(item),
  ]);
  return new URLSearchParams(pairs).toString();
};

const entityTags: Arbitrary<string> = fc.constantFrom('"1"', '*', 'W/"1"', '"1", "2"', '""', 'x', '"');

const headerOf =
  (valueOf: ValueOf) =>
  ({ name }: Parameter): Arbitrary<string> =>
    /match/i.test(name)
      ? entityTags
      : valueOf({ type: 'string', pattern: '^[!-~]{1,20}$' }, name).map(String);

const orExample = (values: Arbitrary<unknown>, example: unknown, weight: number): Arbitrary<unknown> =>
  example === undefined
    ? values
    : fc.oneof({ weight: 1, arbitrary: values }, { weight, arbitrary: fc.constant(example) });

/** Generates valid requests; the example of the body is used `exampleWeight` times as often as a generated body. */
const validPlans = (operation: Operation, valueOf: ValueOf, exampleWeight = 1): Arbitrary<Plan> => {
  const queryParameters = parametersIn(operation, 'query').map(({ name, schema, required }) => {
    const pairs = valueOf(schema, name).map((value) => `${name}=${encoded(value)}`);
    return required ? pairs : fc.option(pairs, { freq: 2, nil: '' });
  });
  const valuesIn = <T>(location: Parameter['in'], generate: (parameter: Parameter) => Arbitrary<T>) =>
    Object.fromEntries(parametersIn(operation, location).map((param) => [param.name, generate(param)]));
  // The example of the document succeeds where generated values cannot: ids that exist, values with a meaning.
  const content = Object.entries(operation.body ?? {}).map(
    ([type, { schema, example, 'x-itemSchema': lineSchema }]) => {
      const values = orExample(valueOf(lineSchema ?? schema), example, exampleWeight);
      return values.map((value) => ({ type, body: serialize(type, value) }));
    },
  );
  return fc
    .record({
      caller: fc.constant('valid'),
      alternative: fc.nat(10),
      resource: fc.option(fc.nat(20), { freq: 9 }),
      path: fc.record(valuesIn('path', ({ name, schema }) => valueOf(schema, name).map(segment))),
      query: fc.tuple(...queryParameters).map((pairs) => pairs.filter(Boolean)),
      headers: fc.record(valuesIn('header', headerOf(valueOf)), {
        requiredKeys: [],
      }) as Arbitrary<Record<string, string>>,
      content: content.length > 0 ? fc.oneof(...content) : fc.constant({ type: undefined, body: undefined }),
    })
    .map(({ content: chosen, ...plan }) => ({ ...plan, ...chosen }));
};

/** Generates requests with one mistake from valid plans. */
const invalidPlans = (operation: Operation, valueOf: ValueOf, plan: Arbitrary<Plan>): Arbitrary<Plan> => {
  const change = <T>(wrong: Arbitrary<T>, set: (plan: Plan, value: T) => Partial<Plan>): Arbitrary<Plan> =>
    fc.tuple(plan, wrong).map(([valid, value]) => ({ ...valid, ...set(valid, value) }));
  const queryParameters = parametersIn(operation, 'query').map(({ name }) => name);
  const pathParameters = parametersIn(operation, 'path').map(({ name }) => name);
  const mistakes = [
    change(fc.constantFrom('unknown=1', 'page[]=1', '__proto__=1', 'constructor'), ({ query }, extra) => ({
      query: [...query, extra],
    })),
  ];
  if (queryParameters.length > 0) {
    const names = fc.constantFrom(...queryParameters);
    mistakes.push(
      change(fc.tuple(names, brokenValues), (_, [name, value]) => ({ query: [`${name}=${value}`] })),
      change(names, (_, name) => ({ query: [`${name}=1`, `${name}=1`] })),
      change(fc.tuple(names, brokenEscapes), (_, [name, value]) => ({ query: [`${name}=${value}`] })),
    );
  }
  if (pathParameters.length > 0) {
    const names = fc.constantFrom(...pathParameters);
    const replaceParameter = ({ path }: Plan, [name, value]: [string, string]) => ({
      resource: null,
      path: { ...path, [name]: value || 'x' },
    });
    mistakes.push(
      change(fc.tuple(names, brokenValues), replaceParameter),
      change(fc.tuple(names, brokenEscapes), replaceParameter),
    );
  }
  for (const [type, { schema, 'x-itemSchema': lineSchema }] of Object.entries(operation.body ?? {})) {
    const wrongBody = change(mutated(valueOf(lineSchema ?? schema)), (_, value) => ({
      type,
      body: serialize(type, value),
    }));
    mistakes.push(
      // Three times, so that it is chosen three times as often as another mistake.
      wrongBody,
      wrongBody,
      wrongBody,
      change(brokenTexts, (_, body) => ({ type, body })),
      change(
        fc.constantFrom('text/plain', 'application/xml', `${type}; charset=utf-16`, '', ';'),
        (_, other) => ({ type: other || undefined }),
      ),
    );
  }
  return fc.oneof(...mistakes);
};

/** Generates requests: of seven, three are valid, one has values at the limits (`edgeOf`), three have one mistake. */
export const plansOf = (operation: Operation, valueOf: ValueOf, edgeOf: ValueOf): Arbitrary<Plan> => {
  const valid = validPlans(operation, valueOf);
  const edges = validPlans(operation, edgeOf);
  const invalid = invalidPlans(operation, valueOf, valid);
  return fc.oneof(
    { weight: 3, arbitrary: valid },
    { weight: 1, arbitrary: edges },
    { weight: 3, arbitrary: invalid },
  );
};

/** Removes conditional headers (If-Match), which rarely match. */
const withoutConditions = (plan: Plan): Plan => ({
  ...plan,
  headers: Object.fromEntries(Object.entries(plan.headers).filter(([name]) => !/^if-/i.test(name))),
});

/**
 * Generates valid requests, six of seven with the examples of body and parameters. An example may name a resource that the
 * platform needs, so DELETE takes another resource if there is one.
 */
export const examplePlansOf = (operation: Operation, valueOf: ValueOf): Arbitrary<Plan> =>
  validPlans(operation, (schema, name) => orExample(valueOf(schema, name), schema.example, 6), 6)
    .map(withoutConditions)
    .map((plan) => (operation.method === 'delete' ? { ...plan, resource: plan.resource ?? 0 } : plan));

/** Generates a valid request, followed by variants that every operation must refuse. */
export const refusalPlansOf = (operation: Operation, valueOf: ValueOf): Arbitrary<Plan[]> =>
  validPlans(operation, valueOf)
    .map(withoutConditions)
    .map((plan) => [
      plan,
      ...(['none', 'invalid', 'without scope'] as const).map((caller) => ({ ...plan, caller })),
      { ...plan, resource: null },
      { ...plan, query: ['unknown=1'] },
      ...(operation.body ? [{ ...plan, type: 'text/plain' }] : []),
    ]);
