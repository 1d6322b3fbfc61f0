/** A part of an OpenAPI 3.0 document; only its place says what it is. */
type Json = { [key: string]: Json | undefined } & Json[] & string;

const entriesOf = (part: Json | undefined): [string, Json][] =>
  Object.entries(part ?? {}) as [string, Json][];

/** A statement about a part of an interface: `GET /v1/quests, query limit` has the `maximum` `100`. */
interface Fact {
  subject: string;
  fact: string;
  value: string;
  /** For requirements on requests: the part of the document without which no caller sent anything there. */
  within?: string;
}

/** Keywords of schemas that refuse values. */
const limits = ['minLength', 'maxLength', 'minimum', 'maximum', 'minItems', 'maxItems', 'pattern', 'format'];

/** What callers rely on, which must stay as it is, and what they must obey, of which nothing may become stricter. */
const readInterface = (document: Json) => {
  const [promises, demands] = [new Map<string, Fact>(), new Map<string, Fact>()];
  const promise = (subject: string, fact: string, value = 'exists'): unknown =>
    promises.set(`${subject}, ${fact}`, { subject, fact, value });
  const demand = (subject: string, fact: string, value: string, within = subject): unknown =>
    demands.set(`${subject}, ${fact}`, { subject, fact, value, within });

  /** `refs`: the named schemas around this one, because a schema may contain itself. */
  const readSchema = (
    schemaOrRef: Json,
    at: string,
    isInput: boolean,
    refs: readonly string[] = [],
  ): void => {
    const ref = schemaOrRef['$ref'] as string | undefined;
    if (ref !== undefined && refs.includes(ref)) return;
    const around = ref === undefined ? refs : [...refs, ref];
    const keys = ref?.split('/').slice(1);
    const schema = keys?.reduce<Json | undefined>((part, key) => part?.[key], document) ?? schemaOrRef;
    promise(at, 'type', String(schema['type']));
    if (isInput) {
      for (const limit of limits) if (schema[limit] !== undefined) demand(at, limit, String(schema[limit]));
      if (schema['nullable']) promise(at, 'null', 'accepted');
      if (schema['enum']) demand(at, 'enum', 'only listed values');
      for (const value of schema['enum'] ?? []) promise(at, `value ${value}`, 'accepted');
    } else if (!schema['nullable']) promise(at, 'null', 'never');
    for (const [name, field] of entriesOf(schema['properties'])) {
      const isRequired = (schema['required'] ?? []).some((one) => one === name);
      if (isRequired && isInput) demand(`${at}.${name}`, 'presence', 'required', at);
      if (isRequired && !isInput) promise(`${at}.${name}`, 'presence', 'always');
      readSchema(field, `${at}.${name}`, isInput, around);
    }
    if (schema['items']) readSchema(schema['items'], `${at}[]`, isInput, around);
    for (const keyword of ['anyOf', 'oneOf', 'allOf'])
      for (const [index, one] of entriesOf(schema[keyword]))
        readSchema(one, `${at}(${index})`, isInput, around);
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

/** A change that breaks callers; `before` or `after` is undefined when there was or is no such fact. */
export interface BreakingChange {
  subject: string;
  fact: string;
  before: string | undefined;
  after: string | undefined;
}

/** All that breaks callers of the older one of two OpenAPI 3.0 documents; of what is gone, not its parts. */
export const breakingChanges = (older: object, newer: object): BreakingChange[] => {
  const [old, now] = [readInterface(older as Json), readInterface(newer as Json)];
  const known = new Set([...old.promises.values()].map(({ subject }) => subject));
  const current = new Set([...now.promises.values()].map(({ subject }) => subject));
  const gone = [...known].filter((subject) => !current.has(subject));
  const isPartOfGone = (subject: string): boolean =>
    gone.some((whole) => [', ', '.', '[', '(', ' '].some((end) => subject.startsWith(whole + end)));
  const reported = new Set<string>();
  const broken = [...old.promises]
    .map(([key, { subject, fact, value }]) => ({
      subject,
      fact,
      before: value,
      after: now.promises.get(key)?.value,
    }))
    .filter(({ before, after }) => after !== before)
    // What is gone is reported once.
    .filter(
      ({ subject }) =>
        current.has(subject) || (!isPartOfGone(subject) && !reported.has(subject) && reported.add(subject)),
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
