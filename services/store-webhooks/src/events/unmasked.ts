import { isDeepStrictEqual } from 'node:util';
import type { Context } from '../context.ts';
import { Ignored, Unprocessable } from '../errors.ts';
import { unmaskedChallengeFields } from '../payments/challenge.ts';
import { eventTypes } from '../processing/event-types.ts';
import { amountNames } from '../providers/money.ts';
import { pointersTo, readable } from '../providers/payload-parsing.ts';
import type { EventRow } from '../inbox/find-events.ts';
import type { KnownStore } from '../stores/known-store.ts';
import type { StoreSettings } from '../stores/settings.ts';
import { replacedSettings } from '../stores/use-cases.ts';
import { shownBy, type Shown } from './redact.ts';

/** What of an event's body settings allow to show, as its provider's adapter names it (nothing for an unknown provider), and where they find its fields. */
const readingOf = (settings: StoreSettings, event: EventRow, body: unknown) => {
  const { providerOf } = eventTypes[event.event];
  if (providerOf === undefined) return { shown: shownBy(unmaskedChallengeFields), mapping: undefined };
  try {
    const { adapter, settings: own } = providerOf({ settings, credentials: {} }, event.service, body);
    const { unmaskedFields: fields } = adapter;
    return { shown: shownBy(typeof fields === 'function' ? fields(own) : fields), mapping: own.mapping };
  } catch (error) {
    if (error instanceof Unprocessable || error instanceof Ignored)
      return { shown: shownBy([]), mapping: undefined };
    throw error;
  }
};

/**
 * The fields of an event's body that may be shown: those of the settings at its receipt, because a later mapping must not
 * unmask what was received before. `isRemapped`: it is read otherwise with the settings `now`, so a record that it changes may get masked
 * values, also in a field that is personal under both mappings.
 */
export const unmaskedAtReceipt = async (
  context: Context,
  store: KnownStore,
  event: EventRow,
  now: StoreSettings = store.settings,
): Promise<{ shown: Shown; isRemapped: boolean }> => {
  const then = (await replacedSettings(context, store.id, event.receivedAt)) ?? store.settings;
  // Parsed only now, so that nothing waits while it is held.
  const content = readable(event.body, event.headers['content-type']);
  const reading = readingOf(then, event, content);
  return {
    shown: reading.shown,
    isRemapped: !isDeepStrictEqual(reading, readingOf(now, event, content)),
  };
};

/** The fields of our own records, as their addresses show them, that a dry run may show. */
export const unmaskedRecordFields = shownBy([
  ...pointersTo(
    '',
    'id status type state stage updatedAt createdAt finishedAt attempts modified refreshedAt',
  ),
  ...pointersTo('', 'consumerId consumerUserId memberId userId service transactionId completed'),
  ...pointersTo('', 'orderNo memberGroup trackingStatus currency orderId driverId estimatedArrival'),
  ...pointersTo('', 'assignedAt startedAt arrivedAt completedAt endedAt laterStage laterStageAt'),
  ...pointersTo('/cart', amountNames.join(' ')),
  ...pointersTo('/cart/items/*', 'productId quantity price totalPrice'),
]);
