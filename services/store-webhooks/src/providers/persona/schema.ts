import { z } from 'zod';
import { fieldOf, identifier, isoTime, orNull, storableText } from '../payload-parsing.ts';

/** `updated-at` → `updated-at`, `updated_at`, `updatedAt`. */
const spellingsOf = (name: string): string[] => [
  name,
  name.replaceAll('-', '_'),
  name.replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase()),
];

/**
 * Attributes whose keys are in kebab-case, snake_case or camelCase, as configured at the webhook. Other keys are not looked at,
 * because a body may have a megabyte of them.
 * https://docs.withpersona.com/api-key-inflection
 */
const attributes = <Shape extends z.ZodRawShape>(shape: Shape) => {
  const names = Object.keys(shape).map((name) => ({ name, spellings: spellingsOf(name) }));
  return z.preprocess(
    (input) =>
      typeof input === 'object' && input !== null
        ? Object.fromEntries(
            names.map(({ name, spellings }) => [
              name,
              spellings.map((key) => fieldOf(input, key)).find((value) => value !== undefined),
            ]),
          )
        : input,
    z.object(shape),
  );
};

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
