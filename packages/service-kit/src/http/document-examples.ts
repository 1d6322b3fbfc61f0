import { isDeepStrictEqual } from 'node:util';
import {
  byFormat,
  exampleWriter,
  knownOf,
  pathNames,
  type Document,
  type Known,
  type MediaType,
  type Operation,
} from './example-values.ts';
import { problemsOf } from './problem-examples.ts';

/** Any version of the record is changed; a key is of one operation, because another body with it is refused. */
const headerExample = (name: string, { operationId }: Operation): string | undefined =>
  ({
    'If-Match': '*',
    'If-None-Match': '"3"',
    'Idempotency-Key': `my-${operationId}`,
    'Import-Id': byFormat['uuid'],
    'Import-First-Line': '1',
  })[name];

/**
 * Gives every body, response and required parameter of a document an example, from those of its schemas, parameters and
 * bodies, and from `fields`: values by the name of a field, or of the parameter of one operation (`deleteQuest.questId`).
 * That of a problem stands once, for all operations that have it.
 */
export const addExamples = <D extends object>(written: D, fields: Record<string, unknown> = {}): D => {
  const { paths, components } = written as unknown as Document;
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.values(methods).map((operation) => ({ path, operation, known: knownOf(path, operation) })),
  );
  const stated: Known = new Map(Object.entries(fields).map(([name, value]) => [name, [value]]));
  const examples: Record<string, { value: unknown }> = (components.examples ??= {});
  /** Refers to the one component that has this value. */
  const shared = (status: string, value: unknown) => {
    const same = Object.keys(examples).filter((name) => name.startsWith(status));
    const name =
      same.find((other) => isDeepStrictEqual(examples[other]?.value, value)) ??
      `${status}-${same.length + 1}`;
    examples[name] ??= { value };
    return { [name]: { $ref: `#/components/examples/${name}` } };
  };
  for (const { path, operation, known } of operations) {
    const knownWhere = (is: (other: (typeof operations)[number]) => boolean) =>
      operations.filter(is).map((other) => other.known);
    const knowns = [
      known,
      // A list has what creates its records.
      ...knownWhere((other) => path.startsWith(`${other.path}/`)).toReversed(),
      ...knownWhere(({ operation: { tags } }) => tags[0] === operation.tags[0]),
      stated,
      ...knownWhere(() => true),
    ];
    const write = exampleWriter(components.schemas ?? {}, knowns, pathNames(operation));
    const bodyExample = ({ schema, 'x-itemSchema': line }: MediaType) =>
      line === undefined ? write(schema, '') : `${JSON.stringify(write(line, ''))}\n`;
    for (const parameter of operation.parameters ?? [])
      if (parameter.in === 'header') parameter.example = headerExample(parameter.name, operation);
      else if (parameter.required)
        parameter.example =
          fields[`${operation.operationId}.${parameter.name}`] ??
          parameter.example ??
          write(parameter.schema, parameter.name);
    for (const content of Object.values(operation.requestBody?.content ?? {}))
      content.example ??= bodyExample(content);
    for (const [status, { description, content = {} }] of Object.entries(operation.responses))
      for (const [type, media] of Object.entries(content)) {
        if (type === 'application/problem+json')
          media.examples = Object.assign(
            {},
            ...problemsOf(status, { description, schema: media.schema }, components.schemas ?? {}, write).map(
              (problem) => shared(status, problem),
            ),
          );
        else media.example ??= bodyExample(media);
      }
  }
  return written;
};
