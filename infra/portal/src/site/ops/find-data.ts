import type { Wallet, Webhooks } from './api.ts';
import { Refused, type Session } from './session.ts';

/** What a search finds, by the titles of the groups in which the records are shown. */
export interface Found {
  Orders: Webhooks['Order'];
  Members: Webhooks['Member'];
  'Delivery jobs': Webhooks['DeliveryJob'];
  Payments: Webhooks['RegisteredPayment'];
  Verifications: Webhooks['Verification'];
  Webhooks: Webhooks['Event'];
  Notifications: Webhooks['Notification'];
  Players: Wallet['Player'];
  Rounds: Wallet['Round'];
  'Ledger entries': Wallet['FoundEntry'];
  'Refused callbacks': Wallet['Refusal'];
}

type Title = keyof Found;

/** One request of a search. */
interface Source {
  group: Title;
  service: 'store-webhooks' | 'wallet-operator';
  scope: string;
  /** The request for a text; undefined when the text cannot be such a value. */
  path: (text: string) => string | undefined;
  /** Name of the array in the response; the response is one record if absent. */
  list?: string;
}

/** Results of one group; `hasMore` when the services have others. */
export interface Group {
  name: Title;
  records: Found[Title][];
  hasMore: boolean;
}

export interface SearchResult {
  groups: Group[];
  /** Scopes that the token lacks, so that a part was not searched. */
  missing: string[];
  /** Errors of services that could not be searched, each reason once. */
  errors: Refused[];
}

const limit = 20;
const uuid = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i;

const ofStores = (
  group: Title,
  list: string,
  filter: string,
  scope = 'stores:read',
  isPossible = (_text: string) => true,
): Source => ({
  group,
  service: 'store-webhooks',
  scope,
  list,
  path: (text) => {
    const name = list.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
    const query = new URLSearchParams({ [filter]: text, limit: String(limit) });
    return text.length <= 200 && isPossible(text) ? `/v1/stores/-/${name}?${query}` : undefined;
  },
});

const ofWallet = (group: Title, list: string, path: string, filter: string): Source => ({
  group,
  service: 'wallet-operator',
  scope: 'wallet:read',
  list,
  path: (text) => `${path}?${new URLSearchParams({ [filter]: text, limit: String(limit) })}`,
});

/** In the order in which they are shown. */
const sources: readonly Source[] = [
  ofStores('Orders', 'orders', 'id'),
  ofStores('Orders', 'orders', 'orderNo'),
  ofStores('Members', 'members', 'id'),
  ofStores('Delivery jobs', 'deliveryJobs', 'id'),
  ofStores('Delivery jobs', 'deliveryJobs', 'orderId'),
  ofStores('Payments', 'payments', 'transactionId', 'payments:read'),
  ofStores('Payments', 'payments', 'orderId', 'payments:read'),
  ofStores('Verifications', 'verifications', 'transactionId'),
  ofStores('Webhooks', 'events', 'id', 'events:read', (text) => uuid.test(text)),
  ofStores('Webhooks', 'events', 'entity', 'events:read'),
  ofStores('Webhooks', 'events', 'value', 'events:reveal'),
  ofStores('Webhooks', 'events', 'requestId', 'events:read', (text) => /^[\w.-]{1,128}$/.test(text)),
  ofStores('Notifications', 'notifications', 'reference'),
  {
    group: 'Players',
    service: 'wallet-operator',
    scope: 'wallet:admin',
    // A browser takes these two segments out of an address.
    path: (text) => (text === '.' || text === '..' ? undefined : `/v1/players/${encodeURIComponent(text)}`),
  },
  ofWallet('Rounds', 'rounds', '/v1/rounds', 'roundId'),
  ofWallet('Ledger entries', 'entries', '/v1/audit/entries', 'transactionId'),
  ofWallet('Refused callbacks', 'refusals', '/v1/refusals', 'transactionId'),
  ofWallet('Refused callbacks', 'refusals', '/v1/refusals', 'roundId'),
  ofWallet('Refused callbacks', 'refusals', '/v1/refusals', 'playerId'),
];

/** Of store-webhooks, one scope includes all. */
const scopesOf = ({ service, scope }: Source): string[] =>
  service === 'store-webhooks' ? [scope, 'stores:admin'] : [scope];

/** With one of these, a search finds something. */
export const findScopes: readonly string[] = [...new Set(sources.flatMap(scopesOf))];

interface Answer {
  group: Title;
  records: Found[Title][];
  hasMore: boolean;
  missing?: string;
  error?: Refused;
}

const askSource = async (session: Session, source: Source, text: string): Promise<Answer> => {
  const { group, scope, path, list } = source;
  const none: Answer = { group, records: [], hasMore: false };
  const address = path(text);
  if (address === undefined) return none;
  if (!session.may(...scopesOf(source))) return { ...none, missing: scope };
  try {
    const body = await session.ask<Record<string, unknown> & { page?: { has_more: boolean } }>(address);
    const records = (list === undefined ? [body] : body[list]) as Found[Title][];
    return { group, records, hasMore: body.page?.has_more ?? false };
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    if (error.status === 403) return { ...none, missing: scope };
    // No service has a value like this, or no record of it.
    return error.status === 400 || error.status === 404 ? none : { ...none, error };
  }
};

/** Names of the services that have not answered so long, in ms, are reported. */
const slowMs = 2500;

/**
 * Searches all services for an exact value. `waiting` is called once with the services that have not answered after a
 * few seconds. Throws when the gateway cannot be reached.
 */
export const search = async (
  session: Session,
  text: string,
  waiting: (services: string[]) => void,
): Promise<SearchResult> => {
  const pending = new Set(sources);
  const timer = setTimeout(() => waiting([...new Set([...pending].map(({ service }) => service))]), slowMs);
  const ask = (source: Source) => askSource(session, source, text).finally(() => pending.delete(source));
  const answers = await Promise.all(sources.map(ask)).finally(() => clearTimeout(timer));
  const groups = [...Map.groupBy(answers, ({ group }) => group)].map(([name, parts]) => {
    const records = parts.flatMap((part) => part.records);
    // Two filters may find the same record.
    const byContent = new Map(records.map((record) => [JSON.stringify(record), record]));
    return { name, records: [...byContent.values()], hasMore: parts.some(({ hasMore }) => hasMore) };
  });
  return {
    groups: groups.filter(({ records }) => records.length > 0),
    missing: [...new Set(answers.flatMap(({ missing }) => missing ?? []))],
    errors: [...new Map(answers.flatMap(({ error }) => (error ? [[error.reason, error]] : []))).values()],
  };
};
