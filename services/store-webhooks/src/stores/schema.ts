import { isNetwork } from '@platform/auth/addresses';
import { instant, isStorable, text } from '@platform/service-kit/text';
import { z } from 'zod';
import { hookEventNames } from '../hooks/events.ts';
import { deliveryAdapters, identityAdapters, posAdapters, threeDSAdapters } from '../providers/registry.ts';

const webAddress = z
  .url({ protocol: /^https?$/, error: 'must be an http or https address' })
  .max(500)
  .refine((url) => {
    // What is no address at all has been refused above, and comes here all the same.
    if (!URL.canParse(url)) return true;
    const { username, password, search, hash } = new URL(url);
    return username === '' && password === '' && search === '' && hash === '';
  }, 'must have no credentials, query or fragment')
  // A parser of addresses drops line ends and turns backslashes; what is kept has to be what was meant.
  .refine(
    (url) => /^[!-[\]-~]*$/.test(url),
    'must be printable ASCII without backslashes; hosts in Punycode',
  );

const credentials = z
  .record(text(1, 50), text(1, 4000))
  .meta({ description: 'Kept encrypted and never answered; left out in a change, they stay as they are' });

const pointer = z
  .string()
  .max(200)
  .regex(/^(\/[^/]*)*$/, 'must be a JSON pointer (RFC 6901)')
  .refine(isStorable, 'must be well-formed Unicode without NUL');
const mapping = z
  .record(text(0, 50), z.record(text(0, 50), pointer))
  .meta({ description: 'For the generic kind: record → field → JSON pointer into the payload' });

const kindOf = (adapters: ReadonlyMap<string, unknown>) => z.enum([...adapters.keys()]);

const provider = (adapters: ReadonlyMap<string, unknown>) =>
  z.strictObject({
    kind: kindOf(adapters),
    baseUrl: webAddress.optional(),
    credentials: credentials.optional(),
    mapping: mapping.optional(),
  });

/** One provider or several. */
const providers = (adapters: ReadonlyMap<string, unknown>) => {
  const one = provider(adapters);
  return z.union([one, z.array(one).max(10)]);
};

export const StoreBody = z.strictObject({
  name: text(1, 200),
  storeUrl: webAddress.meta({ description: 'Where the shop is; redirects lead nowhere else' }),
  pos: provider(posAdapters),
  customerImportsEnabled: z.boolean().default(false),
  delivery: provider(deliveryAdapters).optional(),
  identity: providers(identityAdapters).optional(),
  payments: providers(threeDSAdapters).optional(),
  notifications: z.strictObject({ email: z.email().max(320).optional() }).optional(),
  allowedAddresses: z
    .array(z.string().refine(isNetwork, 'must be an address or a network'))
    .max(200)
    .optional()
    .meta({ description: 'Addresses and networks (CIDR) webhooks may come from; empty: any' }),
  requestsPerMinute: z.int().min(1).max(1_000_000).nullish(),
});

export const StoreChange = z
  .strictObject({
    ...StoreBody.shape,
    customerImportsEnabled: z.boolean(),
    delivery: provider(deliveryAdapters).nullable(),
  })
  .partial();

export type StoreInput = z.output<typeof StoreBody>;
export type StoreChanges = z.output<typeof StoreChange>;
export type ProviderInput = z.output<ReturnType<typeof provider>>;

const ShownProvider = z.object({
  kind: z.string(),
  baseUrl: z.string().optional(),
  mapping: z.record(z.string(), z.record(z.string(), z.string())).optional(),
  credentials: z.array(z.string()).meta({ description: 'Names of the credentials that are set' }),
});

export const StoreView = z
  .object({
    id: z.uuid(),
    name: z.string(),
    storeUrl: z.string(),
    pos: ShownProvider,
    customerImportsEnabled: z.boolean(),
    delivery: ShownProvider.nullable(),
    identity: z.array(ShownProvider),
    payments: z.array(ShownProvider),
    notifications: z.object({ email: z.string().optional() }),
    allowedAddresses: z.array(z.string()),
    requestsPerMinute: z.int().nullable(),
    webhookTokens: z
      .array(
        z.object({
          current: z.boolean(),
          createdAt: instant(),
          worksUntil: instant().nullable(),
          uses: z.int().meta({ description: 'Uses since it was rotated out' }),
          lastUsedAt: instant().nullable(),
        }),
      )
      .meta({ description: 'The token in force and those that were rotated out, newest first' }),
    createdAt: instant(),
    updatedAt: instant(),
  })
  .meta({ id: 'Store' });

const issued = {
  webhookToken: z.string().meta({ description: 'Shown this once' }),
  webhookUrls: z
    .object(Object.fromEntries(hookEventNames.map((event) => [event, z.string()])))
    .meta({ description: 'What to register at the providers, by event' }),
};

export const NewStoreView = z.object({ ...StoreView.shape, ...issued }).meta({ id: 'NewStore' });

export const RotateBody = z.strictObject({
  graceSeconds: z
    .int()
    .min(0)
    .max(30 * 86_400)
    .default(3600)
    .meta({ description: 'How long the old token still works' }),
});

export const RotatedView = z
  .object({ ...issued, previousWorksUntil: instant() })
  .meta({ id: 'RotatedToken' });
