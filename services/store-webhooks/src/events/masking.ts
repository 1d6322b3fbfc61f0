import type { Context } from '../context.ts';
import { Ignored, Unprocessable } from '../errors.ts';
import type { EventRow } from '../inbox/find-events.ts';
import { unmaskedChallengeFields } from '../payments/challenge-payload.ts';
import { eventTypes } from '../processing/event-types.ts';
import { amountNames } from '../providers/money.ts';
import { namesIn, pointersTo } from '../providers/payload-parsing.ts';
import type { KnownStore } from '../stores/known-store.ts';
import type { StoreSettings } from '../stores/settings.ts';
import { replacedSettings } from '../stores/use-cases.ts';

/** A tree of the fields of a body that may be shown, by name; `*` is any element of an array. */
export interface ShownFields {
  /** Whether the value of this field itself may be shown. */
  value: boolean;
  inner: Map<string, ShownFields>;
}

/** The fields that the JSON pointers (RFC 6901, `*` for any element) point to. */
const fieldsAt = (pointers: Iterable<string>): ShownFields => {
  const root: ShownFields = { value: false, inner: new Map() };
  for (const pointer of pointers) {
    let field = root;
    for (const name of namesIn(pointer)) {
      const next = field.inner.get(name) ?? { value: false, inner: new Map() };
      field.inner.set(name, next);
      field = next;
    }
    field.value = true;
  }
  return root;
};

/** Shown in place of a masked value. */
export const redacted = '[redacted]';
/** Maximum number of entries of an object or array in a view. */
const maxEntries = 200;

/** Matches codes, ids, numbers and times, but not addresses, sentences or JSON; in linear time. */
const codePattern = /^[\w .:+~/=-]{0,200}$/;
/** Matches a plain field name. Other names are masked, because some senders use personal data as field names. */
const fieldNamePattern = /^[A-Za-z_][\w-]{0,63}$/;

/** Normalizes a value to text. A number and its text spellings give the same result, because adapters convert them. */
export const codeOf = (value: unknown): string => {
  const text = String(value).trim();
  return text !== '' && Number.isFinite(Number(text)) ? String(Number(text)) : text;
};

/** The texts and numbers in a body, normalized by `codeOf`. */
export const codesIn = (body: unknown): ReadonlySet<string> =>
  new Set(
    typeof body === 'object' && body !== null
      ? Object.values(body).flatMap((value) => [...codesIn(value)])
      : [codeOf(body)],
  );

const looksLikeCode = (value: unknown): boolean =>
  typeof value === 'number' ||
  typeof value === 'boolean' ||
  (typeof value === 'string' && codePattern.test(value));

/**
 * Masks a body but keeps its structure. A value is shown only if its field is in `shown` and it looks like a code, number or
 * time. `codes`: the values that may be shown; a dry run passes those that the event shows, so that a new mapping shows no other.
 */
export const redact = (value: unknown, shown?: ShownFields, codes?: ReadonlySet<string>): unknown => {
  if (value === null || value === undefined) return null;
  if (typeof value !== 'object') {
    const isShown =
      shown?.value === true && looksLikeCode(value) && (codes === undefined || codes.has(codeOf(value)));
    return isShown ? value : redacted;
  }
  if (Array.isArray(value)) {
    const entries = value
      .slice(0, maxEntries)
      .map((inner, at) => redact(inner, shown?.inner.get('*') ?? shown?.inner.get(String(at)), codes));
    return value.length > maxEntries ? [...entries, redacted] : entries;
  }
  const fields = Object.entries(value);
  const entries = fields.slice(0, maxEntries).map(([name, inner]) => {
    const field = shown?.inner.get(name);
    return field !== undefined || fieldNamePattern.test(name)
      ? [name, redact(inner, field, codes)]
      : [redacted, redacted];
  });
  return Object.fromEntries(fields.length > maxEntries ? [...entries, [redacted, redacted]] : entries);
};

/**
 * The settings that decide which fields of an event may be shown: those at its receipt, because a later mapping must not unmask
 * earlier events.
 */
export const settingsAtReceipt = async (
  context: Context,
  { id, settings }: KnownStore,
  { receivedAt }: EventRow,
): Promise<StoreSettings> => (await replacedSettings(context, id, receivedAt)) ?? settings;

/** The fields of an event that may be shown under these settings (none for an unknown provider), and the mapping that reads them. */
export const readingOf = (settings: StoreSettings, event: EventRow, body: unknown) => {
  const { providerOf } = eventTypes[event.event];
  if (providerOf === undefined) return { shownFields: fieldsAt(unmaskedChallengeFields), mapping: undefined };
  try {
    const { adapter, settings: providerSettings } = providerOf(
      { settings, credentials: {} },
      event.service,
      body,
    );
    const { unmaskedFields: fields } = adapter;
    return {
      shownFields: fieldsAt(typeof fields === 'function' ? fields(providerSettings) : fields),
      mapping: providerSettings.mapping,
    };
  } catch (error) {
    if (error instanceof Unprocessable || error instanceof Ignored)
      return { shownFields: fieldsAt([]), mapping: undefined };
    throw error;
  }
};

/** The fields of records that a dry run may show. */
export const unmaskedRecordFields = fieldsAt([
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
