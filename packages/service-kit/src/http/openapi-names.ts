import { isDeepStrictEqual } from 'node:util';
import type { Content, Document, Operation } from './document-examples.ts';

const operationsOf = (document: object): Operation[] =>
  Object.values((document as Document).paths).flatMap((methods) => Object.values(methods));

/** Splits `playerId`, `deliverable_id`, `gameCode` into the entity and `id` or `code`. */
const idOrCode = /^(\w+?)_?(id|code)$/i;

/** Adds descriptions to parameters whose name says everything, such as `playerId`: "Id of the player". */
export const describeIds = <D extends object>(document: D): D => {
  for (const parameter of operationsOf(document).flatMap(({ parameters = [] }) => parameters)) {
    const [, entity, suffix = ''] = idOrCode.exec(parameter.name) ?? [];
    if (entity === undefined) continue;
    const words = entity.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
    parameter.description ??= `${suffix.charAt(0).toUpperCase()}${suffix.slice(1)} of the ${words}`;
  }
  return document;
};

/**
 * Turns the bodies of requests and successful responses into named schemas, so that code generators create types for them:
 * `createStore` gets `CreateStoreBody` and `CreateStoreResult`, unless the schema already has a name.
 */
export const nameBodies = <D extends object>(document: D): D => {
  const schemas = ((document as unknown as Document).components.schemas ??= {});
  const nameIn = (content: Content, name: string): void => {
    for (const media of Object.values(content)) {
      if (media.schema.properties === undefined && media.schema.anyOf === undefined) continue;
      const schemaOfName = (schemas[name] ??= media.schema);
      if (!isDeepStrictEqual(schemaOfName, media.schema))
        throw new Error(`two different schemas have the name ${name}`);
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
