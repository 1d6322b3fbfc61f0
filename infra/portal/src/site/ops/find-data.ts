import type { Wallet, Webhooks } from './api.ts';
import { Refused, rowsOf, type ListResponse, type Session } from './session.ts';

/** Record types of search results, by the title of their group. */
export interface FoundRecords {
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

type Title = keyof FoundRecords;

/** One request of a search. The text is appended to its path, if it matches `pattern`. */
type Source = readonly [group: Title, scope: string, path: string, pattern?: RegExp];

/** Results of one group. `hasMore`: there are more results than shown. */
export interface Group {
  name: Title;
  records: FoundRecords[Title][];
  hasMore: boolean;
}

export interface SearchResult {
  groups: Group[];
  /** Scopes that the token lacks; the sources that need them were not searched. */
  missing: string[];
  /** Errors of services that could not be searched, without duplicate reasons. */
  errors: Refused[];
}

const uuid = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i;
const requestId = /^[\w.-]{1,128}$/;
/** Excludes `.` and `..`, which browsers remove from an address. */
const segment = /^(?!\.{1,2}$)/;

/** Sources in the order in which their groups are shown. */
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

const isWalletSource = ([, scope]: Source): boolean => scope.startsWith('wallet:');

const serviceOf = (source: Source): string => (isWalletSource(source) ? 'wallet-operator' : 'store-webhooks');

/** Scopes that allow a source. In store-webhooks `stores:admin` includes all other scopes. */
const scopesOf = (source: Source): string[] => {
  const [, scope] = source;
  return isWalletSource(source) ? [scope] : [scope, 'stores:admin'];
};

/** Whether a source can contain the text; store-webhooks refuses texts of more than 200 characters. */
const canContain = (source: Source, text: string): boolean => {
  const [, , , pattern] = source;
  return pattern ? pattern.test(text) : isWalletSource(source) || text.length <= 200;
};

/** A search needs one of these scopes. */
export const findScopes: readonly string[] = [...new Set(sources.flatMap(scopesOf))];

interface SourceResult extends Group {
  missing?: string;
  error?: Refused;
}

const searchSource = async (session: Session, source: Source, text: string): Promise<SourceResult> => {
  const [name, scope, path] = source;
  const noResult: SourceResult = { name, records: [], hasMore: false };
  if (!canContain(source, text)) return noResult;
  if (!session.may(...scopesOf(source))) return { ...noResult, missing: scope };
  try {
    const response = await session.ask<FoundRecords['Players'] | ListResponse>(
      path + encodeURIComponent(text),
    );
    if (!('page' in response)) return { ...noResult, records: [response] };
    return { name, records: rowsOf(response), hasMore: response.page.has_more };
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    if (error.status === 403) return { ...noResult, missing: scope };
    // 400: the value is not valid for this field; 404: there is no record.
    return error.status === 400 || error.status === 404 ? noResult : { ...noResult, error };
  }
};

/** Services that have not responded after this time (ms) are reported. */
const slowMs = 2500;

/**
 * Searches all services for an exact value. `onSlow` is called once with the services that have not responded after a few
 * seconds. Throws if the gateway cannot be reached.
 */
export const search = async (
  session: Session,
  text: string,
  onSlow: (services: string[]) => void,
): Promise<SearchResult> => {
  const pending = new Set(sources);
  const timer = setTimeout(() => onSlow([...new Set([...pending].map(serviceOf))]), slowMs);
  const searches = sources.map((source) =>
    searchSource(session, source, text).finally(() => pending.delete(source)),
  );
  const results = await Promise.all(searches).finally(() => clearTimeout(timer));
  const groups = [...Map.groupBy(results, ({ name }) => name)].map(([name, groupResults]) => {
    const records = groupResults.flatMap((result) => result.records);
    // Removes duplicates, because two sources may find the same record.
    const byContent = new Map(records.map((record) => [JSON.stringify(record), record]));
    return { name, records: [...byContent.values()], hasMore: groupResults.some(({ hasMore }) => hasMore) };
  });
  const errorByReason = new Map<string, Refused>();
  for (const { error } of results) if (error) errorByReason.set(error.reason, error);
  return {
    groups: groups.filter(({ records }) => records.length > 0),
    missing: [...new Set(results.flatMap(({ missing }) => missing ?? []))],
    errors: [...errorByReason.values()],
  };
};
