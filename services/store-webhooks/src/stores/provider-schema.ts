import { collectIssues } from '@platform/service-kit/field-errors';
import type { FieldErrors } from '@platform/service-kit/problem';
import { webAddress } from '@platform/service-kit/outbound';
import { isStorable, text } from '@platform/service-kit/text';
import { z } from 'zod';
import { mappedFields } from '../providers/generic/mapping.ts';

/** An address as it is shown. */
export const shownAddress = z.string().meta({ format: 'uri' });

const credentials = z.record(text(1, 50), text(1, 4000)).meta({
  id: 'Credentials',
  description:
    'Kept encrypted and never returned. A change keeps those that it does not name, null removes one; a new kind removes all that are not sent with it, a new origin of baseUrl all but webhookSecret. Without webhookSecret, signatures are not checked',
});

/** In a change, null removes one, or all of a provider. */
export const changedCredentials = z.record(text(1, 50), text(1, 4000).nullable()).nullable().meta({
  id: 'ChangedCredentials',
  description: 'A change keeps those that it does not name; null removes one, or all',
});

const pointer = z
  .string()
  .max(200)
  .regex(/^(\/[^/]*)*$/, 'must be a JSON pointer (RFC 6901)')
  .refine(isStorable, 'must be well-formed Unicode without NUL');
/** A JSON pointer to each field that a record can have, by record; others are allowed and not read. */
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

export const provider = <More extends z.ZodRawShape>(adapters: Adapters, more: More) =>
  z.strictObject({ ...providerFields(adapters), ...more }).superRefine((given, context) => {
    const { kind, credentials: sent } = given as { kind: string; credentials?: object | null };
    const set = Object.fromEntries(Object.entries(sent ?? {}).filter(([, value]) => value !== null));
    const checked = adapters.get(kind)?.credentials?.safeParse(set);
    const errors: FieldErrors = Object.create(null) as FieldErrors;
    collectIssues(errors, checked?.error?.issues ?? [], '');
    for (const [name, [message = '']] of Object.entries(errors))
      context.addIssue({ code: 'custom', path: ['credentials', name], message });
  });

/** Null clears what may be absent (RFC 7396). */
export const providerPatch = (adapters: Adapters) =>
  z
    .strictObject({
      kind: kindOf(adapters),
      baseUrl: webAddress.nullable(),
      credentials: changedCredentials,
      mapping: z.record(text(0, 50), z.record(text(0, 50), pointer.nullable()).nullable()).nullable(),
    })
    .partial();

/** A provider as it is shown: of its credentials the names only. */
export const shownProvider = <More extends z.ZodRawShape>(adapters: Adapters, more: More) =>
  z.object({
    kind: kindOf(adapters),
    baseUrl: shownAddress.optional(),
    mapping: z.record(z.string(), z.record(z.string(), z.string())).optional(),
    credentials: z.array(z.string()).meta({ description: 'Names of the credentials that are set' }),
    credentialNames: z
      .array(z.string())
      .meta({ description: 'Names of the credentials that this kind of provider uses' }),
    ...more,
  });
