import { sourceOf } from '../hooks/subject.ts';
import { unmaskedChallengeFields } from '../payments/challenge.ts';
import { amountNames } from '../providers/records.ts';
import { pointersTo } from '../providers/shape.ts';
import type { StoreSettings } from '../stores/settings.ts';
import { Ignored, Unprocessable } from '../worker/unprocessable.ts';
import { shownBy, type Shown } from './redact.ts';
import type { EventRow } from './store.ts';

/** The fields of an event's body that may be shown, as its provider's adapter names them; none for an unknown provider. */
export const unmaskedFieldsOf = (settings: StoreSettings, event: EventRow, body: unknown): Shown => {
  if (event.event === 'payment-auth-completed') return shownBy(unmaskedChallengeFields);
  try {
    const { adapter, settings: set } = sourceOf({ settings, credentials: {} }, event, body).from;
    return shownBy(
      typeof adapter.unmaskedFields === 'function' ? adapter.unmaskedFields(set) : adapter.unmaskedFields,
    );
  } catch (error) {
    if (error instanceof Unprocessable || error instanceof Ignored) return shownBy([]);
    throw error;
  }
};

/** The columns of our own records that a dry run may show. */
export const unmaskedColumns = shownBy([
  ...pointersTo(
    '',
    'id status type state version event_id created_at updated_at finished_at attempts due_at',
  ),
  ...pointersTo(
    '',
    'consumer_id consumer_user_id member_id user_id refreshed_at service transaction_id completed',
  ),
  ...pointersTo('', 'order_id position driver_id estimated_arrival'),
  ...pointersTo('', 'assigned_at started_at arrived_at completed_at ended_at'),
  ...pointersTo('/details', 'orderNo memberGroup trackingStatus currency'),
  ...pointersTo('/details/amounts', amountNames.join(' ')),
  ...pointersTo('/details/items/*', 'productId quantity price totalPrice'),
]);
