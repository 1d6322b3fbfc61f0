/** Maximum bytes that are stored of an answer. */
const maxAnswer = 1024;
/** Maximum characters of a message whose answer is stored, because searching for the values of a longer one would block others. */
const maxSent = 65_536;
const masked = '[…]';
/** Shorter values are not masked, because they occur in any answer. */
const shortest = 3;
/** Matches UUIDs and times, which are not personal data. */
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

/** The encodings in which an error page may repeat a text. */
const formsOf = (text: string): string[] => [
  text,
  JSON.stringify(text).slice(1, -1),
  text.replaceAll(/["&'<>]/g, (character) => entities[character] ?? ''),
  encodeURIComponent(text.toWellFormed()),
];

/**
 * The start of an answer with the values of the sent record masked; null for an empty answer. Failing servers often repeat the
 * record, and attempts are stored longer than the record or the person in it.
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
  // Longest first, because a long value may contain shorter ones.
  for (const form of new Set(values.flatMap(formsOf).toSorted((a, b) => b.length - a.length)))
    text = text.replaceAll(form, masked);
  return Buffer.from(text).subarray(0, maxAnswer).toString('utf8');
};
