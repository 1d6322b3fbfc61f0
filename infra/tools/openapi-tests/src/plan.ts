import fc, { type Arbitrary } from 'fast-check';
import type { Operation, Parameter, Schema } from './document.ts';
import { brokenEscapes, brokenTexts, brokenValues, mutated } from './mutations.ts';

/** What credentials a request has. */
export type Caller = 'valid' | 'none' | 'invalid' | 'without scope';

/** A request before an existing resource is chosen. Path and query are percent-encoded. */
export interface Plan {
  caller: Caller;
  /** Index of the authentication alternative. */
  alternative: number;
  /** Index of the existing resource; null: use `path`. */
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

const parametersIn = ({ parameters }: Operation, place: Parameter['in']): Parameter[] =>
  parameters.filter((one) => one.in === place);

/** Serialises a value for a media type; for a text, its value or a line of it. */
const write = (type: string, value: unknown): string => {
  if (typeof value === 'string' && /^text\/|ndjson$/.test(type)) return value;
  if (type !== 'application/x-www-form-urlencoded') return JSON.stringify(value) ?? '';
  const pairs = Object.entries(value ?? {}).map(([name, held]): [string, string] => [
    name,
    typeof held === 'string' ? held : JSON.stringify(held),
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

/** Valid requests of an operation; `exampleWeight`: how often the example of its body is used, for each generated body. */
const validPlans = (operation: Operation, valueOf: ValueOf, exampleWeight = 1): Arbitrary<Plan> => {
  const queryParameters = parametersIn(operation, 'query').map(({ name, schema, required }) => {
    const written = valueOf(schema, name).map((value) => `${name}=${encoded(value)}`);
    return required ? written : fc.option(written, { freq: 2, nil: '' });
  });
  const ofParameters = <T>(place: Parameter['in'], as: (one: Parameter) => Arbitrary<T>) =>
    Object.fromEntries(parametersIn(operation, place).map((one) => [one.name, as(one)]));
  // The example of the document succeeds where generated values cannot: ids that exist, values with a meaning.
  const content = Object.entries(operation.body ?? {}).map(
    ([type, { schema, example, 'x-itemSchema': line }]) => {
      const values = orExample(valueOf(line ?? schema), example, exampleWeight);
      return values.map((value) => ({ type, body: write(type, value) }));
    },
  );
  return fc
    .record({
      caller: fc.constant('valid'),
      alternative: fc.nat(10),
      resource: fc.option(fc.nat(20), { freq: 9 }),
      path: fc.record(ofParameters('path', ({ name, schema }) => valueOf(schema, name).map(segment))),
      query: fc.tuple(...queryParameters).map((all) => all.filter(Boolean)),
      headers: fc.record(ofParameters('header', headerOf(valueOf)), {
        requiredKeys: [],
      }) as Arbitrary<Record<string, string>>,
      content: content.length > 0 ? fc.oneof(...content) : fc.constant({ type: undefined, body: undefined }),
    })
    .map(({ content: written, ...rest }) => ({ ...rest, ...written }));
};

/** Requests with one mistake. */
const invalidPlans = (operation: Operation, valueOf: ValueOf, plan: Arbitrary<Plan>): Arbitrary<Plan> => {
  const change = <T>(with_: Arbitrary<T>, how: (plan: Plan, other: T) => Partial<Plan>): Arbitrary<Plan> =>
    fc.tuple(plan, with_).map(([before, other]) => ({ ...before, ...how(before, other) }));
  const queryParameters = parametersIn(operation, 'query').map(({ name }) => name);
  const pathParameters = parametersIn(operation, 'path').map(({ name }) => name);
  const mistakes = [
    change(fc.constantFrom('unknown=1', 'page[]=1', '__proto__=1', 'constructor'), ({ query }, more) => ({
      query: [...query, more],
    })),
  ];
  if (queryParameters.length > 0) {
    const name = fc.constantFrom(...queryParameters);
    mistakes.push(
      change(fc.tuple(name, brokenValues), (_, [which, value]) => ({ query: [`${which}=${value}`] })),
      change(name, (_, which) => ({ query: [`${which}=1`, `${which}=1`] })),
      change(fc.tuple(name, brokenEscapes), (_, [which, value]) => ({ query: [`${which}=${value}`] })),
    );
  }
  if (pathParameters.length > 0) {
    const name = fc.constantFrom(...pathParameters);
    const elsewhere = ({ path }: Plan, [which, value]: [string, string]) => ({
      resource: null,
      path: { ...path, [which]: value || 'x' },
    });
    mistakes.push(
      change(fc.tuple(name, brokenValues), elsewhere),
      change(fc.tuple(name, brokenEscapes), elsewhere),
    );
  }
  for (const [type, { schema, 'x-itemSchema': line }] of Object.entries(operation.body ?? {})) {
    mistakes.push(
      ...[1, 2, 3].map(() =>
        change(mutated(valueOf(line ?? schema)), (_, value) => ({ type, body: write(type, value) })),
      ),
      change(brokenTexts, (_, body) => ({ type, body })),
      change(
        fc.constantFrom('text/plain', 'application/xml', `${type}; charset=utf-16`, '', ';'),
        (_, other) => ({
          type: other || undefined,
        }),
      ),
    );
  }
  return fc.oneof(...mistakes);
};

/** Requests of an operation: valid ones, some at the edges of the document (`edgeOf`), and as many with one mistake. */
export const plansOf = (operation: Operation, valueOf: ValueOf, edgeOf: ValueOf): Arbitrary<Plan> => {
  const good = validPlans(operation, valueOf);
  const edges = validPlans(operation, edgeOf);
  const invalid = invalidPlans(operation, valueOf, good);
  return fc.oneof(
    { weight: 3, arbitrary: good },
    { weight: 1, arbitrary: edges },
    { weight: 3, arbitrary: invalid },
  );
};

/** Without conditional headers, which rarely match. */
const unconditional = (plan: Plan): Plan => ({
  ...plan,
  headers: Object.fromEntries(Object.entries(plan.headers).filter(([name]) => !/^if-/i.test(name))),
});

/** How often an example is used, for each generated value. */
const often = 6;

/**
 * Valid requests of an operation, most of them with the examples of its body and parameters. An example may name what the
 * running platform needs, so it is not deleted where there is something else.
 */
export const examplePlansOf = (operation: Operation, valueOf: ValueOf): Arbitrary<Plan> =>
  validPlans(operation, (schema, name) => orExample(valueOf(schema, name), schema.example, often), often)
    .map(unconditional)
    .map((plan) => (operation.method === 'delete' ? { ...plan, resource: plan.resource ?? 0 } : plan));

/** A valid request, followed by variants that every operation must refuse. */
export const certainPlansOf = (operation: Operation, valueOf: ValueOf): Arbitrary<Plan[]> =>
  validPlans(operation, valueOf)
    .map(unconditional)
    .map((plan) => [
      plan,
      ...(['none', 'invalid', 'without scope'] as const).map((caller) => ({ ...plan, caller })),
      { ...plan, resource: null },
      { ...plan, query: ['unknown=1'] },
      ...(operation.body ? [{ ...plan, type: 'text/plain' }] : []),
    ]);
