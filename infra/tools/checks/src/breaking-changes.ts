/** A part of an OpenAPI 3.0 document, before its position shows which type it has. */
type Json = { [key: string]: Json | undefined } & Json[] & string;

const entriesOf = (part: Json | undefined): [string, Json][] =>
  Object.entries(part ?? {}) as [string, Json][];

/** A property of a part of an interface: `GET /v1/quests, query limit` has the `maximum` `100`. */
interface Fact {
  subject: string;
  fact: string;
  value: string;
  /** For requirements: the part of the request that they belong to. A part that is new has no callers to break. */
  within?: string;
}

/** Keywords of schemas that limit values. */
const limits = ['minLength', 'maxLength', 'minimum', 'maximum', 'minItems', 'maxItems', 'pattern', 'format'];

/** Collects promises to callers, which must stay the same, and demands on requests, which must not become stricter. */
const readInterface = (document: Json) => {
  const [promises, demands] = [new Map<string, Fact>(), new Map<string, Fact>()];
  const promise = (subject: string, fact: string, value = 'exists'): unknown =>
    promises.set(`${subject}, ${fact}`, { subject, fact, value });
  const demand = (subject: string, fact: string, value: string, within = subject): unknown =>
    demands.set(`${subject}, ${fact}`, { subject, fact, value, within });

  /** `refs`: references to the enclosing schemas, because a schema may contain itself. */
  const readSchema = (
    schemaOrRef: Json,
    at: string,
    isInput: boolean,
    refs: readonly string[] = [],
  ): void => {
    const ref = schemaOrRef['$ref'] as string | undefined;
    if (ref !== undefined && refs.includes(ref)) return;
    const enclosing = ref === undefined ? refs : [...refs, ref];
    const keys = ref?.split('/').slice(1);
    const schema = keys?.reduce<Json | undefined>((part, key) => part?.[key], document) ?? schemaOrRef;
    promise(at, 'type', String(schema['type']));
    if (isInput) {
      for (const limit of limits) if (schema[limit] !== undefined) demand(at, limit, String(schema[limit]));
      if (schema['nullable']) promise(at, 'null', 'accepted');
      if (schema['enum']) demand(at, 'enum', 'only listed values');
      for (const value of schema['enum'] ?? []) promise(at, `value ${value}`, 'accepted');
    } else if (!schema['nullable']) promise(at, 'null', 'never');
    for (const [name, property] of entriesOf(schema['properties'])) {
      const isRequired = (schema['required'] ?? []).some((field) => field === name);
      if (isRequired && isInput) demand(`${at}.${name}`, 'presence', 'required', at);
      if (isRequired && !isInput) promise(`${at}.${name}`, 'presence', 'always');
      readSchema(property, `${at}.${name}`, isInput, enclosing);
    }
    if (schema['items']) readSchema(schema['items'], `${at}[]`, isInput, enclosing);
    for (const keyword of ['anyOf', 'oneOf', 'allOf'])
      for (const [index, part] of entriesOf(schema[keyword]))
        readSchema(part, `${at}(${index})`, isInput, enclosing);
  };
  const readContent = (part: Json, at: string, isInput: boolean): void => {
    for (const [mediaType, { schema }] of entriesOf(part['content'])) {
      promise(`${at} ${mediaType}`, 'media type');
      if (schema) readSchema(schema, `${at} ${mediaType}`, isInput);
    }
  };
  const readOperation = (operation: Json, at: string): void => {
    promise(at, 'operation');
    promise(at, 'operationId', String(operation['operationId']));
    for (const parameter of operation['parameters'] ?? []) {
      const subject = `${at}, ${parameter['in']} ${parameter['name']}`;
      promise(subject, 'parameter');
      if (parameter['required']) demand(subject, 'presence', 'required', at);
      if (parameter['schema']) readSchema(parameter['schema'], subject, true);
    }
    const body = operation['requestBody'];
    if (body?.['required']) demand(`${at}, body`, 'presence', 'required', at);
    if (body) readContent(body, `${at}, body`, true);
    for (const [status, response] of entriesOf(operation['responses'])) {
      promise(`${at}, ${status}`, 'status');
      for (const [name] of entriesOf(response['headers'])) promise(`${at}, ${status} ${name}`, 'header');
      readContent(response, `${at}, ${status}`, false);
    }
  };
  for (const [path, methods] of entriesOf(document['paths']))
    for (const [method, operation] of entriesOf(methods)) {
      const [server] = operation['servers'] ?? document['servers'] ?? [];
      const base = String(server?.['url'] ?? '').replace(/\/$/, '');
      readOperation(operation, `${method.toUpperCase()} ${base}${path}`);
    }
  return { promises, demands };
};

const isStricter = ({ fact, value }: Fact, before: Fact | undefined): boolean => {
  if (before === undefined) return true;
  if (fact.startsWith('max')) return Number(value) < Number(before.value);
  if (fact.startsWith('min')) return Number(value) > Number(before.value);
  return value !== before.value;
};

/** A change that breaks callers; `before` is undefined for a new demand, `after` for a removed promise. */
export interface BreakingChange {
  subject: string;
  fact: string;
  before: string | undefined;
  after: string | undefined;
}

/** Returns the changes between two OpenAPI 3.0 documents that break callers. A removed part is one change. */
export const breakingChanges = (older: object, newer: object): BreakingChange[] => {
  const [old, now] = [readInterface(older as Json), readInterface(newer as Json)];
  const known = new Set([...old.promises.values()].map(({ subject }) => subject));
  const current = new Set([...now.promises.values()].map(({ subject }) => subject));
  const removed = [...known].filter((subject) => !current.has(subject));
  const isPartOfRemoved = (subject: string): boolean =>
    removed.some((whole) => [', ', '.', '[', '(', ' '].some((end) => subject.startsWith(whole + end)));
  const reported = new Set<string>();
  const broken = [...old.promises]
    .map(([key, { subject, fact, value }]) => ({
      subject,
      fact,
      before: value,
      after: now.promises.get(key)?.value,
    }))
    .filter(({ before, after }) => after !== before)
    // A removed part is reported once, without its own parts.
    .filter(
      ({ subject }) =>
        current.has(subject) ||
        (!isPartOfRemoved(subject) && !reported.has(subject) && reported.add(subject)),
    );
  const stricter = [...now.demands]
    .filter(([key, demand]) => known.has(demand.within ?? '') && isStricter(demand, old.demands.get(key)))
    .map(([key, { subject, fact, value }]) => ({
      subject,
      fact,
      before: old.demands.get(key)?.value,
      after: value,
    }));
  return [...broken, ...stricter];
};
