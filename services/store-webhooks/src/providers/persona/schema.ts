import { z } from 'zod';
import { identifier, isoTime, orNull, storableText } from '../payload-parsing.ts';

const kebab = (name: string): string =>
  name.replaceAll('_', '-').replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

/**
 * Attributes whose keys are in kebab-case, snake_case or camelCase, as configured at the webhook.
 * https://docs.withpersona.com/api-key-inflection
 */
const attributes = <Shape extends z.ZodRawShape>(shape: Shape) =>
  z.preprocess(
    (input) =>
      typeof input === 'object' && input !== null
        ? Object.fromEntries(Object.entries(input).map(([name, value]) => [kebab(name), value]))
        : input,
    z.object(shape),
  );

/** Answer of GET /api/v1/inquiries/{id}, and the payload of an inquiry event. */
export const inquiry = z.object({
  data: z.object({
    id: identifier(),
    attributes: attributes({
      status: storableText(100),
      'reference-id': orNull(identifier()),
      'updated-at': orNull(isoTime()),
    }),
  }),
});

/** The envelope of an event about any object. https://docs.withpersona.com/webhooks */
export const event = z.object({
  data: z.object({
    id: orNull(identifier()),
    attributes: attributes({
      name: storableText(200),
      'created-at': orNull(isoTime()),
      payload: z.unknown(),
    }),
  }),
});

/** For the OpenAPI document. */
export const inquiryEvent = z
  .object({
    data: z.object({
      id: orNull(identifier()),
      attributes: attributes({ name: storableText(200), 'created-at': orNull(isoTime()), payload: inquiry }),
    }),
  })
  .meta({
    id: 'PersonaInquiryEvent',
    description: 'An inquiry event of Persona; keys in kebab-case, snake_case or camelCase',
  });
