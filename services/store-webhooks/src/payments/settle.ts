import { tellable, tellableError } from '../tracker/failure.ts';
import type { SecretBox } from '@platform/auth/secret-box';
import type { Log } from '@platform/service-kit/log';
import type { Sql } from 'postgres';
import { readable } from '../hooks/body.ts';
import type { ProviderReader } from '../providers/reader.ts';
import { threeDSAdapters } from '../providers/registry.ts';
import type { KnownStore } from '../stores/known-store.ts';
import { readChallenge } from './challenge.ts';
import { choosePayment, failure, keepOutcomeMs, outcomeOf, type Outcome, type PaymentRow } from './domain.ts';
import { findPayments, keepOutcome } from './store.ts';

export interface Settling {
  sql: Sql;
  box: SecretBox;
  reader: ProviderReader;
  log: Log;
  now(): Date;
}

export interface PaymentEvent {
  store: KnownStore;
  /** In the path. */
  service: string | null;
  body: Buffer;
  contentType: string | undefined;
}

/** What becomes of a payment event. Without an outcome the answer is `{}`. */
export interface Settled {
  outcome?: Outcome;
  state: 'done' | 'failed' | 'ignored' | 'again';
  error?: string;
}

const contextOf = ({ storeId, service, transactionId }: PaymentRow): string =>
  `payments/${storeId}/${service}/${transactionId}`;

const kept = ({ box, now }: Settling, row: PaymentRow): Outcome | undefined => {
  if (row.outcome === null || row.outcomeAt === null) return undefined;
  if (now().getTime() - new Date(row.outcomeAt).getTime() > keepOutcomeMs) return undefined;
  return JSON.parse(box.open(row.outcome, contextOf(row))) as Outcome;
};

const ask = async (settling: Settling, store: KnownStore, row: PaymentRow, id: string): Promise<Settled> => {
  const settings = store.settings.payments.find(({ kind }) => kind === row.service);
  const adapter = threeDSAdapters.get(row.service);
  if (settings === undefined || adapter === undefined)
    return { outcome: failure('unavailable'), state: 'failed', error: 'The store has no such 3DS provider.' };
  const credentials = store.credentials[`payments.${row.service}`] ?? {};
  let outcome: Outcome;
  try {
    outcome = outcomeOf(await adapter.result(id, { settings, credentials, reader: settling.reader }));
  } catch (err) {
    settling.log.warn({ err: tellableError(err), storeId: store.id }, 'the 3DS provider gave no result');
    return { outcome: failure('unavailable'), state: 'again', error: tellable(err) };
  }
  const sealed = settling.box.seal(JSON.stringify(outcome), contextOf(row));
  await keepOutcome(settling.sql, row, id, sealed, settling.now());
  return { outcome, state: 'done' };
};

/**
 * Finds out what became of a 3DS challenge: read → payment → kept outcome → provider. The challenge
 * result itself came through the browser, so only the provider's word counts.
 */
export const settlePayment = async (settling: Settling, event: PaymentEvent): Promise<Settled> => {
  const { store, contentType } = event;
  const isForm = contentType?.toLowerCase().startsWith('application/x-www-form-urlencoded') ?? false;
  const challenge = readChallenge(readable(event.body, contentType), event.service, isForm);
  const { service, serverTransactionId: id, transactionIds } = challenge;
  if (service === undefined) return { state: 'failed', error: 'The payload does not name its service.' };
  if (!threeDSAdapters.has(service))
    return { outcome: failure('unknown'), state: 'ignored', error: 'The service is not known.' };
  if (event.service !== null && event.service !== service)
    settling.log.warn({ storeId: store.id, path: event.service, service }, 'path and body name two services');
  if (id === undefined)
    return { outcome: failure('unreadable'), state: 'failed', error: 'The challenge result is unreadable.' };

  const rows = await findPayments(settling.sql, service, [...new Set([...transactionIds, id])]);
  const { own, foreign } = choosePayment(rows, store.id, transactionIds, id);
  if (foreign)
    return { outcome: failure('unknown'), state: 'failed', error: 'The transaction belongs elsewhere.' };
  if (own === undefined) return { state: 'failed', error: 'There is no order for the transaction.' };
  const outcome = kept(settling, own);
  return outcome === undefined ? ask(settling, store, own, id) : { outcome, state: 'done' };
};
