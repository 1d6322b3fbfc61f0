import { Ignored, Unprocessable } from '../worker/unprocessable.ts';
import { readChallenge } from '../payments/challenge.ts';
import type { Credentials, ProviderSettings, SignedRequest, Subject } from '../providers/adapter.ts';
import type { JobEvent } from '../providers/records.ts';
import { deliveryAdapters, identityAdapters, posAdapters } from '../providers/registry.ts';
import { fieldOf } from '../providers/shape.ts';
import { credentialsOf } from '../stores/credentials.ts';
import type { KnownStore } from '../stores/known-store.ts';
import type { HookEvent } from './events.ts';

/** Which provider an event comes from and what the store has set for it. */
export interface Source<A> {
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
 * The provider of an identity event: the body's `service`. A body in the own shape of the path's
 * provider has no room for that field and is taken as its.
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
  // Otherwise a body that names another provider would pass by the signing secret of the store's own.
  if (found === undefined && identity.length > 0)
    throw new Ignored('The store has another identity provider.');
  const set = found ?? { kind };
  return source(identityAdapters, set, store, `identity.${kind}`);
};

export const isJobEvent = (event: HookEvent): event is JobEvent => event.startsWith('job_');
export const isIdentityEvent = (event: HookEvent): boolean => event.startsWith('identity-verification-');

export interface About extends Subject {
  entity: string | null;
  /** Header fields to keep. */
  headers: readonly string[];
  signed: boolean | undefined;
}

const none: readonly string[] = [];

/**
 * The entity of an event and whether its signature is valid, determined at receipt. Gives no entity if the
 * body does not name one; processing reports that. Throws CredentialsUnreadable if a signature cannot be
 * verified because of that.
 */
export const aboutEvent = (
  store: KnownStore,
  event: HookEvent,
  service: string | null,
  body: unknown,
  request: SignedRequest,
): About => {
  const about = (
    kind: string,
    from: Source<{ headers?: readonly string[]; signed?: Signed }>,
    subject: Subject,
  ): About => ({
    ...subject,
    entity: subject.id === undefined ? null : `${kind}:${subject.id}`,
    headers: from.adapter.headers ?? none,
    signed: from.adapter.signed?.(request, from),
  });
  try {
    if (isJobEvent(event)) {
      const from = deliverySource(store);
      return about('job', from, from.adapter.subject(body));
    }
    if (isIdentityEvent(event)) {
      const kind = identityService(service, body);
      const from = identitySource(store, kind);
      return about(`verification.${kind}`, from, from.adapter.subject(body));
    }
    if (event === 'order_updated' || event === 'new_member' || event === 'member_updated') {
      const from = posSource(store);
      const kind = event === 'order_updated' ? 'order' : 'member';
      return about(kind, from, from.adapter.subject(event, body, from.settings));
    }
    const { paymentId: id } = readChallenge(body, service, true);
    return { id, entity: id === undefined ? null : `payment:${id}`, headers: none, signed: undefined };
  } catch (error) {
    if (!(error instanceof Unprocessable || error instanceof Ignored)) throw error;
  }
  return { entity: null, headers: none, signed: undefined };
};

type Signed = (
  request: SignedRequest,
  connection: { settings: ProviderSettings; credentials: Credentials },
) => boolean | undefined;
