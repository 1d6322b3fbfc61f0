import { isDeepStrictEqual } from 'node:util';
import type { Context } from '../context.ts';
import { Ignored, Unprocessable } from '../errors.ts';
import type { EventRow } from '../inbox/find-events.ts';
import { unmaskedChallengeFields } from '../payments/challenge.ts';
import { eventTypes } from '../processing/event-types.ts';
import { amountNames } from '../providers/money.ts';
import { pointersTo, readable } from '../providers/payload-parsing.ts';
import type { KnownStore } from '../stores/known-store.ts';
import type { StoreSettings } from '../stores/settings.ts';
import { replacedSettings } from '../stores/use-cases.ts';

/** The fields of a body that may be shown: by name, `*` for any element of an array. */
export interface Shown {
  /** Whether the value of this field itself may be shown. */
  value: boolean;
  inner: Map<string, Shown>;
}

/** The fields that JSON pointers (RFC 6901, `*` for any element) lead to. */
const shownBy = (pointers: Iterable<string>): Shown => {
  const root: Shown = { value: false, inner: new Map() };
  for (const pointer of pointers) {
    let field = root;
    for (const part of pointer.split('/').slice(1)) {
      const name = part.replaceAll('~1', '/').replaceAll('~0', '~');
      const next = field.inner.get(name) ?? { value: false, inner: new Map() };
      field.inner.set(name, next);
      field = next;
    }
    field.value = true;
  }
  return root;
};

/** What is shown in place of a masked value. */
export const hidden = '[redacted]';
/** At most this many entries of an object or array are shown, so that a view stays small. */
const maxEntries = 200;

/** Codes, ids, numbers and times; no addresses, sentences or JSON. Matches in linear time. */
const code = /^[\w .:+~/=-]{0,200}$/;
/** A plain field name. Other names are masked, because some senders use personal values as names. */
const fieldName = /^[A-Za-z_][\w-]{0,63}$/;

/** The same text for a number and for its spellings, because adapters turn one into the other. */
export const codeOf = (value: unknown): string => {
  const text = String(value).trim();
  return text !== '' && Number.isFinite(Number(text)) ? String(Number(text)) : text;
};

/** The texts and numbers in a body, for `redact`. */
export const codesIn = (body: unknown): ReadonlySet<string> =>
  new Set(
    typeof body === 'object' && body !== null
      ? Object.values(body).flatMap((value) => [...codesIn(value)])
      : [codeOf(body)],
  );

const looksLikeCode = (value: unknown): boolean =>
  typeof value === 'number' || typeof value === 'boolean' || (typeof value === 'string' && code.test(value));

/**
 * Masks a body. Its shape stays; a value stays only if `shown` names its field and it looks like a code, number
 * or time, and is one of `codes` if these are given (see `codesIn`).
 */
export const redact = (value: unknown, shown?: Shown, codes?: ReadonlySet<string>): unknown => {
  if (value === null || value === undefined) return null;
  if (typeof value !== 'object') {
    const stays = shown?.value === true && looksLikeCode(value) && codes?.has(codeOf(value)) !== false;
    return stays ? value : hidden;
  }
  if (Array.isArray(value)) {
    const kept = value
      .slice(0, maxEntries)
      .map((inner, at) => redact(inner, shown?.inner.get('*') ?? shown?.inner.get(String(at)), codes));
    return value.length > maxEntries ? [...kept, hidden] : kept;
  }
  const fields = Object.entries(value);
  const kept = fields.slice(0, maxEntries).map(([name, inner]) => {
    const field = shown?.inner.get(name);
    return field !== undefined || fieldName.test(name)
      ? [name, redact(inner, field, codes)]
      : [hidden, hidden];
  });
  return Object.fromEntries(fields.length > maxEntries ? [...kept, [hidden, hidden]] : kept);
};

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
