import type { Wallet, Webhooks } from './api.ts';
import { Refused, rowsOf, type ListAnswer, type Session } from './session.ts';

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

/** One request of a search: the text is added to its path, when it can be such a value. */
type Source = readonly [group: Title, scope: string, path: string, possible?: RegExp];

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

const uuid = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i;
const requestId = /^[\w.-]{1,128}$/;
/** A browser takes these two segments out of an address. */
const segment = /^(?!\.{1,2}$)/;

/** In the order in which they are shown. */
const sources: readonly Source[] = [
  ['Orders', 'stores:read', '/v1/stores/-/orders?limit=20&id='],
  ['Orders', 'stores:read', '/v1/stores/-/orders?limit=20&orderNo='],
  ['Orders', 'stores:read', '/v1/stores/-/orders?limit=20&consumerId='],
  ['Members', 'stores:read', '/v1/stores/-/members?limit=20&id='],
  ['Delivery jobs', 'stores:read', '/v1/stores/-/delivery-jobs?limit=20&id='],
  ['Delivery jobs', 'stores:read', '/v1/stores/-/delivery-jobs?limit=20&orderId='],
  ['Payments', 'payments:read', '/v1/stores/-/payments?limit=20&transactionId='],
  ['Payments', 'payments:read', '/v1/stores/-/payments?limit=20&orderId='],
  ['Verifications', 'stores:read', '/v1/stores/-/verifications?limit=20&transactionId='],
  ['Verifications', 'stores:read', '/v1/stores/-/verifications?limit=20&userId='],
  ['Webhooks', 'events:read', '/v1/stores/-/events?limit=20&id=', uuid],
  ['Webhooks', 'events:read', '/v1/stores/-/events?limit=20&entity='],
  ['Webhooks', 'events:reveal', '/v1/stores/-/events?limit=20&value='],
  ['Webhooks', 'events:read', '/v1/stores/-/events?limit=20&requestId=', requestId],
  ['Notifications', 'stores:read', '/v1/stores/-/notifications?limit=20&reference='],
  ['Players', 'wallet:admin', '/v1/players/', segment],
  ['Rounds', 'wallet:read', '/v1/rounds?limit=20&roundId='],
  ['Ledger entries', 'wallet:read', '/v1/audit/entries?limit=20&transactionId='],
  ['Refused callbacks', 'wallet:read', '/v1/refusals?limit=20&transactionId='],
  ['Refused callbacks', 'wallet:read', '/v1/refusals?limit=20&roundId='],
  ['Refused callbacks', 'wallet:read', '/v1/refusals?limit=20&playerId='],
];

const isOfWallet = ([, scope]: Source): boolean => scope.startsWith('wallet:');

/** Of store-webhooks, one scope includes all. */
const scopesOf = (source: Source): string[] =>
  isOfWallet(source) ? [source[1]] : [source[1], 'stores:admin'];

/** With one of these, a search finds something. */
export const findScopes: readonly string[] = [...new Set(sources.flatMap(scopesOf))];

interface Answer extends Group {
  missing?: string;
  error?: Refused;
}

const askSource = async (session: Session, source: Source, text: string): Promise<Answer> => {
  const [name, scope, path, possible] = source;
  const none: Answer = { name, records: [], hasMore: false };
  if (possible ? !possible.test(text) : !isOfWallet(source) && text.length > 200) return none;
  if (!session.may(...scopesOf(source))) return { ...none, missing: scope };
  try {
    const answer = await session.ask<Found['Players'] | ListAnswer>(path + encodeURIComponent(text));
    if (!('page' in answer)) return { ...none, records: [answer] };
    return { name, records: rowsOf(answer), hasMore: answer.page.has_more };
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
  const serviceOf = (source: Source): string => (isOfWallet(source) ? 'wallet-operator' : 'store-webhooks');
  const timer = setTimeout(() => waiting([...new Set([...pending].map(serviceOf))]), slowMs);
  const ask = (source: Source) => askSource(session, source, text).finally(() => pending.delete(source));
  const answers = await Promise.all(sources.map(ask)).finally(() => clearTimeout(timer));
  const groups = [...Map.groupBy(answers, ({ name }) => name)].map(([name, parts]) => {
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
