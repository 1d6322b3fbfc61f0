import { boundedList } from '@platform/service-kit/bounded-list';
import { webAddress } from '@platform/service-kit/outbound';
import { instant, text } from '@platform/service-kit/text';
import { z } from 'zod';
import { defaultCurrency, isCurrency } from '../providers/money.ts';
import { deliveryAdapters, identityAdapters, posAdapters, threeDSAdapters } from '../providers/registry.ts';
import { notificationsPatch, NotificationsView, storeNotifications } from '../notifications/schema.ts';
import { hookEventNames } from '../webhooks.ts';
import { isNetwork } from './address-list.ts';
import {
  changedCredentials,
  provider,
  providerPatch,
  shownAddress,
  shownProvider,
} from './provider-schema.ts';
import { tokenPurposes } from './settings.ts';

/** One provider or several of different kinds, because credentials are kept by kind; always an array afterwards. */
const oneOrMore = <T extends z.ZodType<{ kind: string }>>(one: T) =>
  z
    .union([one, boundedList(one, 0, 10)])
    .transform((given) => [given].flat() as z.output<T>[])
    .refine(
      (providers) => new Set(providers.map(({ kind }) => kind)).size === providers.length,
      'must name each kind at most once',
    );

const acceptStoreToken = z.boolean().optional().meta({
  description:
    'Whether payment-auth-completed is also opened by the token of the other events; true at first. False at one provider forbids it for all',
});

export const StoreBody = z.strictObject({
  name: text(1, 200),
  active: z.boolean().default(true).meta({
    description:
      'False: the store is paused. Its webhooks are answered and recorded as ignored (store_paused), and challenges lead to the failure page',
  }),
  storeUrl: webAddress.meta({ description: 'Address of the shop; redirects lead only there' }),
  currency: z
    .string()
    .regex(/^[A-Z]{3}$/, 'must be three capital letters, such as EUR')
    .refine(isCurrency, 'must be the code of a currency (ISO 4217), such as EUR')
    .default(defaultCurrency)
    .meta({
      description: 'Of the orders whose payload names none; a change leaves stored orders as they are',
    }),
  pos: provider(posAdapters, {}).meta({ id: 'PosProvider' }),
  customerImportsEnabled: z.boolean().default(false),
  delivery: provider(deliveryAdapters, {}).meta({ id: 'DeliveryProvider' }).optional(),
  identity: oneOrMore(provider(identityAdapters, {}).meta({ id: 'IdentityProvider' })).default([]),
  payments: oneOrMore(
    provider(threeDSAdapters, { acceptStoreToken }).meta({ id: 'PaymentProvider' }),
  ).default([]),
  notifications: storeNotifications.prefault({}),
  allowedAddresses: boundedList(
    z.string().max(50).refine(isNetwork, 'must be an address or a network'),
    0,
    200,
  )
    .default([])
    .meta({ description: 'Addresses and networks (CIDR) webhooks may come from; empty: any' }),
  requestsPerMinute: z.int().min(1).max(1_000_000).nullish(),
});

const { shape } = StoreBody;
const changed = { credentials: changedCredentials.optional() };

/** Its values are validated once more when they are merged into those of the store. */
export const StorePatch = z
  .strictObject({
    name: shape.name,
    active: shape.active.unwrap(),
    storeUrl: shape.storeUrl,
    currency: shape.currency.unwrap(),
    pos: providerPatch(posAdapters).meta({ id: 'PosProviderPatch' }),
    customerImportsEnabled: z.boolean().nullable(),
    delivery: providerPatch(deliveryAdapters).nullable().meta({ id: 'DeliveryProviderPatch' }),
    identity: oneOrMore(
      provider(identityAdapters, changed).meta({ id: 'ChangedIdentityProvider' }),
    ).nullable(),
    payments: oneOrMore(
      provider(threeDSAdapters, { ...changed, acceptStoreToken }).meta({ id: 'ChangedPaymentProvider' }),
    ).nullable(),
    notifications: notificationsPatch.nullable().meta({ id: 'NotificationSettingsPatch' }),
    allowedAddresses: shape.allowedAddresses.unwrap().nullable(),
    requestsPerMinute: shape.requestsPerMinute,
  })
  .partial();

export type StoreInput = z.output<typeof StoreBody>;
export type StorePatch = z.output<typeof StorePatch>;

const TokenFor = z.enum(tokenPurposes).meta({
  description:
    'events: the token of the store, which opens all webhooks; payments: the token in the address of payment-auth-completed, which opens only that',
});

const WebhookToken = z
  .object({
    for: TokenFor,
    current: z.boolean(),
    createdAt: instant(),
    worksUntil: instant().nullable(),
    uses: z.int().meta({ description: 'Uses since it was rotated out' }),
    lastUsedAt: instant().nullable(),
  })
  .meta({ id: 'WebhookToken' });

export const StoreView = z
  .object({
    id: z.uuid(),
    name: z.string(),
    active: z.boolean().meta({ description: 'False: paused' }),
    storeUrl: shownAddress,
    currency: z.string(),
    pos: shownProvider(posAdapters, {}).meta({ id: 'ShownPosProvider' }),
    customerImportsEnabled: z.boolean(),
    delivery: shownProvider(deliveryAdapters, {}).nullable().meta({ id: 'ShownDeliveryProvider' }),
    identity: z.array(shownProvider(identityAdapters, {}).meta({ id: 'ShownIdentityProvider' })),
    payments: z.array(
      shownProvider(threeDSAdapters, { acceptStoreToken: z.boolean() }).meta({ id: 'ShownPaymentProvider' }),
    ),
    notifications: NotificationsView,
    allowedAddresses: z.array(z.string()),
    requestsPerMinute: z.int().nullable(),
    webhookTokens: z
      .array(WebhookToken)
      .meta({ description: 'The two tokens in force, and those that were rotated out' }),
    credentialsState: z.enum(['readable', 'unreadable']).meta({
      description:
        'unreadable: no key of SECRETS_KEY decrypts the credentials. Processing of this store waits until the key is back or all credentials are sent again',
    }),
    createdAt: instant(),
    updatedAt: instant(),
    deletedAt: instant().nullable().meta({
      description:
        'Set: its tokens are unknown, and its data is erased STORE_ERASE_DAYS later unless it is restored',
    }),
  })
  .meta({ id: 'Store' });

/** A changed store, and the credentials that the change removed. */
export const ChangedStoreView = z
  .object({
    ...StoreView.shape,
    clearedCredentials: z.array(z.string()).meta({
      description:
        'Credentials that this change removed, such as pos.apiKey: those of a provider whose kind or whose origin of baseUrl changed, unless they were sent with it. A webhookSecret outlasts a new origin',
    }),
  })
  .meta({ id: 'ChangedStore' });

const webhookToken = z.string().meta({ description: 'Shown this once' });
const urlsOf = <T extends z.ZodType>(url: T) =>
  z
    .object(Object.fromEntries(hookEventNames.map((event) => [event, url])))
    .meta({ description: 'The addresses to register at the providers, by event' });

export const NewStoreView = z
  .object({ ...StoreView.shape, webhookToken, webhookUrls: urlsOf(z.string()) })
  .meta({ id: 'NewStore' });

export const RotateBody = z.strictObject({
  graceSeconds: z
    .int()
    .min(0)
    .max(30 * 86_400)
    .default(3600)
    .meta({ description: 'How long the old token still works' }),
  for: TokenFor.default('events'),
});

export const RotatedView = z
  .object({
    webhookToken,
    webhookUrls: urlsOf(z.string().optional()).meta({
      description: 'The addresses with the new token: those of the other token stay as they are',
    }),
    previousWorksUntil: instant(),
  })
  .meta({ id: 'RotatedToken' });
