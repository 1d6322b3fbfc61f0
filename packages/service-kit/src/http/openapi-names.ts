import { isDeepStrictEqual } from 'node:util';
import type { Content, Document, Operation } from './document-examples.ts';

const operationsOf = (document: object): Operation[] =>
  Object.values((document as Document).paths).flatMap((methods) => Object.values(methods));

/** `playerId`, `deliverable_id`, `gameCode`: what it names, in words, and how. */
const named = /^(\w+?)_?(id|code)$/i;

/** Describes parameters that say all by their name, such as `playerId`: "Id of the player". */
export const describeIds = <D extends object>(document: D): D => {
  for (const parameter of operationsOf(document).flatMap(({ parameters = [] }) => parameters)) {
    const [, thing, kind = ''] = named.exec(parameter.name) ?? [];
    if (thing === undefined) continue;
    const words = thing.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
    parameter.description ??= `${kind.charAt(0).toUpperCase()}${kind.slice(1)} of the ${words}`;
  }
  return document;
};

/**
 * Makes the body of each request and each success that has fields a named schema, so that generated code has a type of it:
 * `createStore` has `CreateStoreBody` and `CreateStoreResult`, unless its schema has a name of its own.
 */
export const nameBodies = <D extends object>(document: D): D => {
  const schemas = ((document as unknown as Document).components.schemas ??= {});
  const nameIn = (content: Content, name: string): void => {
    for (const media of Object.values(content)) {
      if (media.schema.properties === undefined && media.schema.anyOf === undefined) continue;
      const known = (schemas[name] ??= media.schema);
      if (!isDeepStrictEqual(known, media.schema)) throw new Error(`there are two schemas ${name}`);
      media.schema = { $ref: `#/components/schemas/${name}` };
    }
  };
  for (const { operationId, requestBody, responses } of operationsOf(document)) {
    const name = operationId.charAt(0).toUpperCase() + operationId.slice(1);
    nameIn(requestBody?.content ?? {}, `${name}Body`);
    for (const [status, { content = {} }] of Object.entries(responses))
      if (status < '300') nameIn(content, `${name}Result`);
  }
  return document;
};
