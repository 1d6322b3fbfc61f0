import { Ignored, Unprocessable } from '../errors.ts';
import { unmaskedChallengeFields } from '../payments/challenge.ts';
import { eventTypes } from '../process/event-types.ts';
import { amountNames } from '../providers/money.ts';
import { pointersTo } from '../providers/payload-parsing.ts';
import type { EventRow } from '../queue/find-events.ts';
import type { StoreSettings } from '../stores/settings.ts';
import { shownBy, type Shown } from './redact.ts';

/** The fields of an event's body that may be shown, as its provider's adapter names them; none for an unknown provider. */
export const unmaskedFieldsOf = (settings: StoreSettings, event: EventRow, body: unknown): Shown => {
  const { providerOf } = eventTypes[event.event];
  if (providerOf === undefined) return shownBy(unmaskedChallengeFields);
  try {
    const { adapter, settings: set } = providerOf({ settings, credentials: {} }, event.service, body);
    return shownBy(
      typeof adapter.unmaskedFields === 'function' ? adapter.unmaskedFields(set) : adapter.unmaskedFields,
    );
  } catch (error) {
    if (error instanceof Unprocessable || error instanceof Ignored) return shownBy([]);
    throw error;
  }
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
