import { z } from 'zod';
import { identifier, isoTime, maybe, words } from '../shape.ts';

const kebab = (name: string): string =>
  name.replaceAll('_', '-').replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

/**
 * Attributes whose keys are written in kebab-case, snake_case or camelCase, as set at the webhook.
 * https://docs.withpersona.com/api-key-inflection
 */
const attributes = <Shape extends z.ZodRawShape>(shape: Shape) =>
  z.preprocess(
    (given) =>
      typeof given === 'object' && given !== null
        ? Object.fromEntries(Object.entries(given).map(([name, value]) => [kebab(name), value]))
        : given,
    z.object(shape),
  );

/** Answer of GET /api/v1/inquiries/{id}, and the payload of an inquiry event. */
export const inquiry = z.object({
  data: z.object({
    id: identifier(),
    attributes: attributes({
      status: words(100),
      'reference-id': maybe(identifier()),
      'updated-at': maybe(isoTime()),
    }),
  }),
});

/** The event around any object. https://docs.withpersona.com/webhooks */
export const event = z.object({
  data: z.object({
    id: maybe(identifier()),
    attributes: attributes({ name: words(200), 'created-at': maybe(isoTime()), payload: z.unknown() }),
  }),
});

/** For the OpenAPI document. */
export const inquiryEvent = z
  .object({
    data: z.object({
      id: maybe(identifier()),
      attributes: attributes({ name: words(200), 'created-at': maybe(isoTime()), payload: inquiry }),
    }),
  })
  .meta({
    id: 'PersonaInquiryEvent',
    description: 'An inquiry event of Persona; keys in any of its inflections',
  });
