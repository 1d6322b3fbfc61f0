/** A part of an OpenAPI 3.0 document; its position determines which of these types it has. */
type Json = { [key: string]: Json | undefined } & Json[] & string;

const entriesOf = (part: Json | undefined): [string, Json][] =>
  Object.entries(part ?? {}) as [string, Json][];

/** A property of a part of an interface, such as the `maximum` `100` of `GET /v1/quests, query limit`. */
interface Fact {
  subject: string;
  fact: string;
  value: string;
  /** Of demands: the part of the request to which the fact belongs. If this part is new, no caller sends it yet. */
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

  const resolve = (ref: string): Json | undefined => {
    let part: Json | undefined = document;
    for (const key of ref.split('/').slice(1)) part = part?.[key];
    return part;
  };
  /** A schema may contain itself, so `enclosing` has the references to the schemas around it. */
  const readSchema = (
    schemaOrRef: Json,
    subject: string,
    isInput: boolean,
    enclosing: readonly string[] = [],
  ): void => {
    const ref = schemaOrRef['$ref'] as string | undefined;
    if (ref !== undefined && enclosing.includes(ref)) return;
    const schema = (ref && resolve(ref)) || schemaOrRef;
    const readPart = (part: Json, name: string): void =>
      readSchema(part, `${subject}${name}`, isInput, ref === undefined ? enclosing : [...enclosing, ref]);
    promise(subject, 'type', String(schema['type']));
    if (isInput) {
      for (const limit of limits)
        if (schema[limit] !== undefined) demand(subject, limit, String(schema[limit]));
      if (schema['nullable']) promise(subject, 'null', 'accepted');
      if (schema['enum']) demand(subject, 'enum', 'only listed values');
      for (const value of schema['enum'] ?? []) promise(subject, `value ${value}`, 'accepted');
    } else if (!schema['nullable']) promise(subject, 'null', 'never');
    for (const [name, property] of entriesOf(schema['properties'])) {
      const isRequired = (schema['required'] ?? []).some((field) => field === name);
      if (isRequired && isInput) demand(`${subject}.${name}`, 'presence', 'required', subject);
      if (isRequired && !isInput) promise(`${subject}.${name}`, 'presence', 'always');
      readPart(property, `.${name}`);
    }
    if (schema['items']) readPart(schema['items'], '[]');
    for (const keyword of ['anyOf', 'oneOf', 'allOf'])
      for (const [index, part] of entriesOf(schema[keyword])) readPart(part, `(${index})`);
  };
  const readContent = (part: Json, subject: string, isInput: boolean): void => {
    for (const [mediaType, { schema }] of entriesOf(part['content'])) {
      promise(`${subject} ${mediaType}`, 'media type');
      if (schema) readSchema(schema, `${subject} ${mediaType}`, isInput);
    }
  };
  const readOperation = (operation: Json, subject: string): void => {
    promise(subject, 'operation');
    promise(subject, 'operationId', String(operation['operationId']));
    for (const parameter of operation['parameters'] ?? []) {
      const name = `${subject}, ${parameter['in']} ${parameter['name']}`;
      promise(name, 'parameter');
      if (parameter['required']) demand(name, 'presence', 'required', subject);
      if (parameter['schema']) readSchema(parameter['schema'], name, true);
    }
    const body = operation['requestBody'];
    if (body?.['required']) demand(`${subject}, body`, 'presence', 'required', subject);
    if (body) readContent(body, `${subject}, body`, true);
    for (const [status, response] of entriesOf(operation['responses'])) {
      promise(`${subject}, ${status}`, 'status');
      for (const [name] of entriesOf(response['headers'])) promise(`${subject}, ${status} ${name}`, 'header');
      readContent(response, `${subject}, ${status}`, false);
    }
  };
  for (const [path, methods] of entriesOf(document['paths']))
    for (const [method, operation] of entriesOf(methods)) {
      const [server] = operation['servers'] ?? document['servers'] ?? [];
      const base = String(server?.['url'] ?? '').replace(/\/$/, '');
      readOperation(operation, `${method.toUpperCase()} ${base}${path}`);
    }
  const subjects = new Set([...promises.values()].map(({ subject }) => subject));
  return { promises, demands, subjects };
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
export const breakingChanges = (oldDocument: object, newDocument: object): BreakingChange[] => {
  const [older, newer] = [readInterface(oldDocument as Json), readInterface(newDocument as Json)];
  const removed = [...older.subjects].filter((subject) => !newer.subjects.has(subject));
  const isPartOfRemoved = (subject: string): boolean =>
    removed.some((whole) => [', ', '.', '[', '(', ' '].some((end) => subject.startsWith(whole + end)));
  const changes: BreakingChange[] = [];
  const reported = new Set<string>();
  for (const [key, { subject, fact, value: before }] of older.promises) {
    const after = newer.promises.get(key)?.value;
    if (after === before) continue;
    // A removed part is reported once, without its own parts.
    if (!newer.subjects.has(subject) && (reported.has(subject) || isPartOfRemoved(subject))) continue;
    reported.add(subject);
    changes.push({ subject, fact, before, after });
  }
  for (const [key, demand] of newer.demands) {
    const before = older.demands.get(key);
    if (older.subjects.has(demand.within ?? '') && isStricter(demand, before))
      changes.push({
        subject: demand.subject,
        fact: demand.fact,
        before: before?.value,
        after: demand.value,
      });
  }
  return changes;
};
