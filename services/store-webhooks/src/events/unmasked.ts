import { isDeepStrictEqual } from 'node:util';
import type { Context } from '../context.ts';
import { Ignored, Unprocessable } from '../errors.ts';
import { unmaskedChallengeFields } from '../payments/challenge.ts';
import { eventTypes } from '../processing/event-types.ts';
import { amountNames } from '../providers/money.ts';
import { pointersTo, readable } from '../providers/payload-parsing.ts';
import type { EventRow } from '../queue/find-events.ts';
import type { KnownStore } from '../stores/known-store.ts';
import type { StoreSettings } from '../stores/settings.ts';
import { replacedSettings } from '../stores/use-cases.ts';
import { shownBy, type Shown } from './redact.ts';

/** The fields of an event's body that settings allow to show, as its provider's adapter names them; none for an unknown provider. */
const unmaskedFieldsOf = (settings: StoreSettings, event: EventRow, body: unknown): Shown => {
  const { providerOf } = eventTypes[event.event];
  if (providerOf === undefined) return shownBy(unmaskedChallengeFields);
  try {
    const { adapter, settings: own } = providerOf({ settings, credentials: {} }, event.service, body);
    return shownBy(
      typeof adapter.unmaskedFields === 'function' ? adapter.unmaskedFields(own) : adapter.unmaskedFields,
    );
  } catch (error) {
    if (error instanceof Unprocessable || error instanceof Ignored) return shownBy([]);
    throw error;
  }
};

/**
 * The fields of an event's body that may be shown: those of the settings at its receipt, because a later mapping must not
 * unmask what was received before. `isRemapped`: those of today differ, so a record that it changes may get masked values.
 */
export const unmaskedAtReceipt = async (
  context: Context,
  store: KnownStore,
  event: EventRow,
): Promise<{ shown: Shown; isRemapped: boolean }> => {
  const then = (await replacedSettings(context, store.id, event.receivedAt)) ?? store.settings;
  // Parsed only now, so that nothing waits while it is held.
  const content = readable(event.body, event.headers['content-type']);
  const shown = unmaskedFieldsOf(then, event, content);
  return { shown, isRemapped: !isDeepStrictEqual(shown, unmaskedFieldsOf(store.settings, event, content)) };
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
