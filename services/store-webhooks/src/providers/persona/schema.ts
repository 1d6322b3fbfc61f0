import { z } from 'zod';
import { identifier, isoTime, orNull, storableText } from '../payload-parsing.ts';

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
      status: storableText(100),
      'reference-id': orNull(identifier()),
      'updated-at': orNull(isoTime()),
    }),
  }),
});

/** The event around any object. https://docs.withpersona.com/webhooks */
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
    description: 'An inquiry event of Persona; keys in any of its inflections',
  });
