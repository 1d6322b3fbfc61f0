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

/** Accepts one provider or several of different kinds (credentials are stored by kind); the output is always an array. */
const oneOrMore = <T extends z.ZodType<{ kind: string }>>(providerSchema: T) =>
  z
    .union([providerSchema, boundedList(providerSchema, 0, 10)])
    .transform((input) => [input].flat() as z.output<T>[])
    .refine(
      (providers) => new Set(providers.map(({ kind }) => kind)).size === providers.length,
      'must name each kind at most once',
    );

const acceptStoreToken = z.boolean().optional().meta({
  description:
    'Whether payment-auth-completed also accepts the token of the other events; true by default. False at one provider disables it for all',
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
      description: 'Currency of orders whose payload names none; a change does not affect stored orders',
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
    .meta({ description: 'Addresses and networks (CIDR) that webhooks may come from; empty: any' }),
  requestsPerMinute: z.int().min(1).max(1_000_000).nullish(),
});

const { shape } = StoreBody;
const changedFields = { credentials: changedCredentials.optional() };

/** The values are validated again after they are merged into those of the store. */
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
      provider(identityAdapters, changedFields).meta({ id: 'ChangedIdentityProvider' }),
    ).nullable(),
    payments: oneOrMore(
      provider(threeDSAdapters, { ...changedFields, acceptStoreToken }).meta({
        id: 'ChangedPaymentProvider',
      }),
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
    'events: the token of the store, accepted by all webhooks; payments: the token in the address of payment-auth-completed, accepted only there',
});

const WebhookToken = z
  .object({
    for: TokenFor,
    current: z.boolean(),
    createdAt: instant(),
    worksUntil: instant().nullable(),
    uses: z.int().meta({ description: 'Uses since it was replaced' }),
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
      .meta({ description: 'The two current tokens and the replaced ones' }),
    credentialsState: z.enum(['readable', 'unreadable']).meta({
      description:
        'unreadable: no key of SECRETS_KEY decrypts the credentials. Processing of this store waits until the key is back or all credentials are sent again',
    }),
    createdAt: instant(),
    updatedAt: instant(),
    deletedAt: instant().nullable().meta({
      description:
        'Set: the store is deleted. Its tokens are rejected, and its data is erased STORE_ERASE_DAYS later unless it is restored',
    }),
  })
  .meta({ id: 'Store' });

/** A changed store, and the credentials that the change removed. */
export const ChangedStoreView = z
  .object({
    ...StoreView.shape,
    clearedCredentials: z.array(z.string()).meta({
      description:
        'Credentials that this change removed, such as pos.apiKey: those of a provider whose kind or origin of baseUrl changed, unless they were sent with it. A new origin keeps webhookSecret',
    }),
  })
  .meta({ id: 'ChangedStore' });

const webhookToken = z.string().meta({ description: 'Shown only once' });
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
      description: 'The addresses with the new token; those with the other token do not change',
    }),
    previousWorksUntil: instant(),
  })
  .meta({ id: 'RotatedToken' });
