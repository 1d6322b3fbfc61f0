import fc, { type Arbitrary } from 'fast-check';

type Json = Record<string, unknown>;

/** Values that faulty programs and attackers send. */
const junk: Arbitrary<unknown> = fc.constantFrom<unknown>(
  null,
  true,
  0,
  -1,
  1.5,
  2 ** 31,
  2 ** 53,
  1e308,
  [],
  {},
  [[]],
  [null],
  { a: { b: {} } },
  '',
  ' ',
  '0',
  '-0',
  '01',
  '1e3',
  '\u0000',
  'a\u0000b',
  '\u202E',
  '\uD800',
  '__proto__',
  'constructor',
  '2026-02-30',
  '0000-01-01',
  '9999-12-31T23:59:60Z',
  '+275760-09-13T00:00:00.000Z',
  '%00',
  '{{7*7}}',
  "'; drop table tasks; --",
  '<script>',
  '../../etc/passwd',
  'x'.repeat(20_000),
  '😀'.repeat(300),
);

const isContainer = (value: unknown): value is Json => typeof value === 'object' && value !== null;

/** Returns every field and item inside a JSON value, each as parent and name. */
const fieldsOf = (value: unknown): [Json, string][] =>
  isContainer(value)
    ? Object.keys(value).flatMap((name) => [[value, name] as [Json, string], ...fieldsOf(value[name])])
    : [];

type Change = (parent: Json, name: string) => void;

/** Returns a copy of the value with one field or item changed. */
const changeAt = (value: unknown, index: number, change: Change): unknown => {
  const copy: unknown = structuredClone(value);
  const fields = fieldsOf(copy);
  const [parent, name] = fields[index % fields.length] ?? [];
  if (parent && name !== undefined) change(parent, name);
  return copy;
};

/** Generates JSON values with one mistake from valid ones. */
export const mutated = (valid: Arbitrary<unknown>): Arbitrary<unknown> =>
  fc.oneof(
    fc.tuple(valid, fc.nat(500), junk).map(([value, index, wrong]) =>
      changeAt(value, index, (parent, name) => {
        parent[name] = wrong;
      }),
    ),
    fc.tuple(valid, fc.nat(500)).map(([value, index]) =>
      changeAt(value, index, (parent, name) => {
        delete parent[name];
      }),
    ),
    fc
      .tuple(valid, fc.constantFrom('id', 'version', 'constructor', 'unknown', ''))
      .map(([value, name]) => (isContainer(value) ? { ...value, [name]: 1 } : value)),
    junk,
  );

/** Texts that are not JSON, or JSON that parsers often handle wrongly. */
export const brokenTexts: Arbitrary<string> = fc.constantFrom(
  '{',
  '{"a":',
  '[1,',
  'undefined',
  "{'a':1}",
  '\uFEFF{}',
  '\u0000',
  '{"a":1}{"b":2}',
  ' ',
  '{"__proto__":{"admin":true}}',
  '{"a":1,"a":2}',
  '['.repeat(5_000),
  '"\\ud800"',
  '1e999',
);

/** Wrong parameter values, percent-encoded. */
export const brokenValues: Arbitrary<string> = fc.constantFrom(
  '',
  '-1',
  '01',
  '1.5',
  '1e3',
  '%2B1',
  '%20',
  '9'.repeat(30),
  '2147483648',
  '%00',
  '%0a',
  '%C3%A4',
  '%F0%9F%98%80',
  '%27%20or%201=1',
  '..%2f..%2f',
  'null',
  'true',
  'x'.repeat(400),
  '00000000-0000-0000-0000-000000000000',
);

/** Invalid percent-encoding. */
export const brokenEscapes: Arbitrary<string> = fc.constantFrom('%', '%zz', '%C3', '%ED%A0%80', '%c0%af');
