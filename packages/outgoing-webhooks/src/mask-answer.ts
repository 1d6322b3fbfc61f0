/** Maximum number of bytes of an answer that are stored. */
const maxAnswer = 1024;
/** The answer to a longer message is not stored, because collecting the words of the message would block the event loop. */
const maxSent = 65_536;
const masked = '[…]';
/** Matches UUIDs and times, which are not personal data. */
const isPlain = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$|^\d{4}-\d\d-\d\dT[\d:.]+Z$/i;
/** A sequence of letters and digits. Single characters are not masked, because they occur in any answer. */
const word = /[\p{L}\p{N}\p{M}]{2,}/gu;

/** All strings and numbers in a JSON value. */
const valuesIn = (value: unknown): string[] => {
  if (typeof value === 'string' || typeof value === 'number') return [String(value)];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(valuesIn) : [];
};

/** Removes accents and case, so that `MÜLLER`, composed or decomposed, and a decoded `M&uuml;ller` are equal. */
const normalize = (text: string): string =>
  text.normalize('NFKD').replaceAll(/\p{M}/gu, '').replaceAll('ß', 'ss').toLowerCase();

const character = (digits: string, base: number): string => {
  const code = Number.parseInt(digits, base);
  return code <= 0x10_ff_ff ? String.fromCodePoint(code) : ' ';
};

/** Decodes the escapes of JSON (also nested), Python, PHP, URLs, forms and HTML, which error pages may contain. */
const decode = (text: string): string =>
  text
    .replaceAll(/\\+/g, '\\')
    .replaceAll(/\\u([\da-f]{4})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
    .replaceAll(/\\x([\da-f]{2})/gi, (_, hex: string) => character(hex, 16))
    .replaceAll(/\\[bfnrt]/g, ' ')
    .replaceAll(/(?:%[\da-f]{2})+/gi, (bytes) => Buffer.from(bytes.replaceAll('%', ''), 'hex').toString())
    .replaceAll(/&#x([\da-f]{1,6});/gi, (_, hex: string) => character(hex, 16))
    .replaceAll(/&#(\d{1,7});/g, (_, digits: string) => character(digits, 10))
    .replaceAll('&szlig;', 'ss')
    .replaceAll(/&([a-z])(?:uml|acute|grave|circ|tilde|cedil|ring|slash|caron);/gi, '$1');

/** PostgreSQL cannot store NUL. */
const withoutNul = (text: string): string => text.replaceAll('\0', '\uFFFD');

/** Removes the last word, which may be incomplete. */
const withoutLastWord = (text: string): string =>
  text.slice(0, Math.max(0, ...[' ', '\n', '"', "'", '<', ',', '&'].map((end) => text.lastIndexOf(end))));

/**
 * The start of an answer, decoded, with the words of the sent record masked; null for an empty answer. Failing servers often
 * echo the record, and attempts are stored longer than the record itself.
 */
export const maskAnswer = (answer: Buffer, sent: string): string | null => {
  if (answer.length === 0) return null;
  if (sent.length > maxSent) return masked;
  const { data } = JSON.parse(sent) as { data?: { item?: unknown } };
  const values = valuesIn(data?.item).filter((value) => !isPlain.test(value));
  const words = new Set(values.flatMap((value) => normalize(value).match(word) ?? []));
  const start = answer.subarray(0, 2 * maxAnswer).toString('utf8');
  const complete = answer.length > 2 * maxAnswer ? withoutLastWord(start) : start;
  const text = decode(complete).replaceAll(word, (match) => (words.has(normalize(match)) ? masked : match));
  return Buffer.from(withoutNul(text)).subarray(0, maxAnswer).toString('utf8');
};
