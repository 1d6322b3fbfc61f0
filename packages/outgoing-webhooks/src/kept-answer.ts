/** In bytes. */
const maxAnswer = 1024;
/** Of a message, in characters: of a longer one no answer is kept, because looking for its values would keep others waiting. */
const maxSent = 65_536;
const masked = '[…]';
/** Shorter texts are in any answer. */
const shortest = 3;
/** UUIDs and times, which are no personal data. */
const isPlain = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$|^\d{4}-\d\d-\d\dT[\d:.]+Z$/i;

/** All texts and numbers in a JSON value. */
const valuesIn = (value: unknown): string[] => {
  if (typeof value === 'string' || typeof value === 'number') return [String(value)];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(valuesIn) : [];
};

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** How an error page may repeat a text. */
const formsOf = (text: string): string[] => [
  text,
  JSON.stringify(text).slice(1, -1),
  text.replaceAll(/["&'<>]/g, (character) => entities[character] ?? ''),
  encodeURIComponent(text.toWellFormed()),
];

/**
 * The beginning of an answer, null for an empty one. What it repeats of the record that was sent is masked: a failing server
 * often does, and attempts are kept when the record, or the person in it, has long been erased.
 */
export const keptAnswer = (answer: Buffer, sent: string): string | null => {
  if (answer.length === 0) return null;
  if (sent.length > maxSent) return masked;
  const { data } = JSON.parse(sent) as { data?: { item?: unknown } };
  const values = valuesIn(data?.item).filter((value) => value.length >= shortest && !isPlain.test(value));
  let text = answer
    .subarray(0, 2 * maxAnswer)
    .toString('utf8')
    .replaceAll('\0', '\uFFFD');
  // The longest first, because it may contain others.
  for (const form of new Set(values.flatMap(formsOf).toSorted((a, b) => b.length - a.length)))
    text = text.replaceAll(form, masked);
  return Buffer.from(text).subarray(0, maxAnswer).toString('utf8');
};
