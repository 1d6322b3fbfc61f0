/** The fields of a body that may be shown: by name, `*` for any element of an array. */
export interface Shown {
  /** Whether the value of this field itself may be shown. */
  value: boolean;
  inner: Map<string, Shown>;
}

/** The fields that JSON pointers (RFC 6901, `*` for any element) lead to. */
export const shownBy = (pointers: Iterable<string>): Shown => {
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
