import { Ignored, Unprocessable } from '../worker/unprocessable.ts';
import { readChallenge } from '../payments/challenge.ts';
import type { Adapter, Credentials, ProviderSettings, SignedRequest, Subject } from '../providers/adapter.ts';
import type { JobEvent } from '../providers/records.ts';
import { deliveryAdapters, identityAdapters, posAdapters } from '../providers/registry.ts';
import { fieldOf } from '../providers/payload-parsing.ts';
import { credentialsOf } from '../stores/credentials.ts';
import type { KnownStore } from '../stores/known-store.ts';
import type { HookEvent } from './events.ts';

/** The provider that an event comes from, and what the store has set for it. */
interface Source<A> {
  adapter: A;
  settings: ProviderSettings;
  /** Throws CredentialsUnreadable. */
  readonly credentials: Credentials;
}

type Configured = Pick<KnownStore, 'settings' | 'credentials'>;

const source = <A>(
  adapters: ReadonlyMap<string, A>,
  settings: ProviderSettings,
  store: Configured,
  slot: string,
): Source<A> => {
  const adapter = adapters.get(settings.kind);
  if (adapter === undefined) throw new Unprocessable(`There is no adapter for ${settings.kind}.`);
  return {
    adapter,
    settings,
    // Read late: many webhooks can be stored without them, even while they cannot be decrypted.
    get credentials() {
      return credentialsOf(store)[slot] ?? {};
    },
  };
};

export const posSource = (store: Configured) => source(posAdapters, store.settings.pos, store, 'pos');

export const deliverySource = (store: Configured) =>
  source(deliveryAdapters, store.settings.delivery ?? { kind: 'pos' }, store, 'delivery');

/**
 * The provider of an identity event: the `service` of the body, or else the provider in the path if the body
 * has the provider's own shape, which has no such field.
 */
export const identityService = (service: string | null, body: unknown): string => {
  const named = fieldOf(body, 'service');
  if (typeof named === 'string' && named !== '') return named;
  if (service !== null && identityAdapters.get(service)?.recognises(body)) return service;
  throw new Unprocessable('The payload does not name its service.');
};

export const identitySource = (store: Configured, kind: string) => {
  const { identity } = store.settings;
  if (!identityAdapters.has(kind)) throw new Ignored('The service is not known.');
  const found = identity.find((one) => one.kind === kind);
  // Otherwise a body that names another provider would avoid the signature check of the store's own provider.
  if (found === undefined && identity.length > 0)
    throw new Ignored('The store has another identity provider.');
  const set = found ?? { kind };
  return source(identityAdapters, set, store, `identity.${kind}`);
};

export const isJobEvent = (event: HookEvent): event is JobEvent => event.startsWith('job_');
export const isIdentityEvent = (event: HookEvent): boolean => event.startsWith('identity-verification-');

interface Received {
  event: HookEvent;
  /** The provider in the path. */
  service: string | null;
}

/**
 * The provider of any event but a payment, and the kind of its entity. Throws Unprocessable or Ignored if
 * there is none.
 */
export const sourceOf = (
  store: Configured,
  { event, service }: Received,
  body: unknown,
): { kind: string; from: Source<Adapter> } => {
  if (isJobEvent(event)) return { kind: 'job', from: deliverySource(store) };
  if (!isIdentityEvent(event))
    return { kind: event === 'order_updated' ? 'order' : 'member', from: posSource(store) };
  const provider = identityService(service, body);
  return { kind: `verification.${provider}`, from: identitySource(store, provider) };
};

export interface Inspection extends Subject {
  entity: string | null;
  /** Header fields to keep. */
  headers: readonly string[];
  /** Whether the signature is valid; undefined if it is not checked. */
  signed: boolean | undefined;
}

const inspection = (
  kind: string,
  subject: Subject,
  headers: readonly string[] = [],
  signed?: boolean,
): Inspection => ({
  ...subject,
  entity: subject.id === undefined ? null : `${kind}:${subject.id}`,
  headers,
  signed,
});

/**
 * The entity of an event and whether its signature is valid, determined at receipt. Gives no entity if the
 * body does not name one; processing reports that. Throws CredentialsUnreadable if a signature cannot be
 * verified because of that.
 */
export const inspectEvent = (
  store: KnownStore,
  event: HookEvent,
  service: string | null,
  body: unknown,
  request: SignedRequest,
): Inspection => {
  if (event === 'payment-auth-completed')
    return inspection('payment', { id: readChallenge(body, service, true).paymentId });
  try {
    const { kind, from } = sourceOf(store, { event, service }, body);
    const { headers, signed } = from.adapter;
    const subject = from.adapter.subject(body, from.settings, event);
    return inspection(kind, subject, headers, signed?.(request, from));
  } catch (error) {
    if (error instanceof Unprocessable || error instanceof Ignored) return inspection('', {});
    throw error;
  }
};
