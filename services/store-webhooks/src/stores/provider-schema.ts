import { collectIssues } from '@platform/service-kit/field-errors';
import type { FieldErrors } from '@platform/service-kit/problem';
import { webAddress } from '@platform/service-kit/outbound';
import { isStorable, text } from '@platform/service-kit/text';
import { z } from 'zod';
import { mappedFields } from '../providers/generic/mapping.ts';

/** An address in a response. */
export const shownAddress = z.string().meta({ format: 'uri' });

const credentials = z.record(text(1, 50), text(1, 4000)).meta({
  id: 'Credentials',
  description:
    'Stored encrypted and never returned. A change keeps the credentials that it does not name; null removes one. A new kind removes all that are not sent with it, a new origin of baseUrl all except webhookSecret. Without webhookSecret, signatures are not checked',
});

/** Credentials in a change: null removes one, or all of a provider. */
export const changedCredentials = z.record(text(1, 50), text(1, 4000).nullable()).nullable().meta({
  id: 'ChangedCredentials',
  description: 'A change keeps the credentials that it does not name; null removes one, or all',
});

const pointer = z
  .string()
  .max(200)
  .regex(/^(\/[^/]*)*$/, 'must be a JSON pointer (RFC 6901)')
  .refine(isStorable, 'must be well-formed Unicode without NUL');
/** By record, a JSON pointer for each of its fields. Unknown records and fields are allowed and ignored. */
export const mapping = z
  .record(
    text(0, 50),
    z
      .record(text(0, 50), pointer)
      .refine((fields) => Object.keys(fields).length <= 100, 'must have at most 100 fields'),
  )
  .meta({
    id: 'Mapping',
    description: 'For the generic kind: record → field → JSON pointer into the payload',
    properties: Object.fromEntries(
      mappedFields.map(({ record, fields }) => {
        const properties = Object.fromEntries(
          fields.map(({ name, pointer: initial }) => [name, { type: 'string', default: initial }]),
        );
        return [record, { type: 'object', properties, additionalProperties: { type: 'string' } }];
      }),
    ),
  });

type Adapters = ReadonlyMap<string, { credentials?: z.ZodType }>;

const kindOf = (adapters: Adapters) => z.enum([...adapters.keys()]);

const providerFields = (adapters: Adapters) => ({
  kind: kindOf(adapters),
  baseUrl: webAddress.optional(),
  credentials: credentials.optional(),
  mapping: mapping.optional(),
});

export const provider = <ExtraFields extends z.ZodRawShape>(adapters: Adapters, extraFields: ExtraFields) =>
  z.strictObject({ ...providerFields(adapters), ...extraFields }).superRefine((input, context) => {
    const { kind, credentials: sent } = input as { kind: string; credentials?: object | null };
    const presentCredentials = Object.fromEntries(
      Object.entries(sent ?? {}).filter(([, value]) => value !== null),
    );
    const parsed = adapters.get(kind)?.credentials?.safeParse(presentCredentials);
    const errors: FieldErrors = Object.create(null) as FieldErrors;
    collectIssues(errors, parsed?.error?.issues ?? [], '');
    for (const [name, [message = '']] of Object.entries(errors))
      context.addIssue({ code: 'custom', path: ['credentials', name], message });
  });

/** A merge patch of a provider; null removes an optional field (RFC 7396). */
export const providerPatch = (adapters: Adapters) =>
  z
    .strictObject({
      kind: kindOf(adapters),
      baseUrl: webAddress.nullable(),
      credentials: changedCredentials,
      mapping: z.record(text(0, 50), z.record(text(0, 50), pointer.nullable()).nullable()).nullable(),
    })
    .partial();

/** A provider in a response, with only the names of its credentials. */
export const shownProvider = <ExtraFields extends z.ZodRawShape>(
  adapters: Adapters,
  extraFields: ExtraFields,
) =>
  z.object({
    kind: kindOf(adapters),
    baseUrl: shownAddress.optional(),
    mapping: z.record(z.string(), z.record(z.string(), z.string())).optional(),
    credentials: z.array(z.string()).meta({ description: 'Names of the credentials that are set' }),
    credentialNames: z
      .array(z.string())
      .meta({ description: 'Names of the credentials that this kind of provider uses' }),
    ...extraFields,
  });
