import { readable } from '../providers/payload-parsing.ts';

/** What identifies a person in the body of an event. */
export interface Person {
  /** At the shop's systems; the first is that of the member. */
  ids: readonly [string, ...string[]];
  /** Mail addresses and phone numbers that no other member has. */
  contacts: readonly string[];
  /** JSON pointers (RFC 6901) to the id and to the phone number of a person, where the store has names of its own for them. */
  pointers: { ids: readonly string[]; phones: readonly string[] };
}

/** The end of the path, without separators, to the id of a person. */
const idPath = /(?:consumer|customer|member|user|buyer|person|patron|profile)(?:user)?id$/;
const phoneName = /phone|mobile?|cell|^tel|telefon|handy|whatsapp/i;
const mailAddress = /[^\s<>()[\]",;:]+@[^\s<>()[\]",;:?&]+/g;
const phoneNumber = /^\s*(?:\+|00)?[\d ()./-]+$/;

/** Shorter numbers, those of few different digits and those in order are placeholders. */
const MIN_DIGITS = 8;
const MIN_DIFFERENT = 4;
const IN_ORDER = '01234567890 9876543210';

export const isMail = (contact: string): boolean => contact.includes('@');

/** The digits of a phone number without zeros before; undefined for any other text, and for a number that identifies nobody. */
export const digitsOf = (text: string): string | undefined => {
  if (!phoneNumber.test(text)) return undefined;
  const digits = text.replace('(0)', '').replaceAll(/\D/g, '').replace(/^0+/, '');
  const isPlaceholder =
    digits.length < MIN_DIGITS ||
    new Set(digits.slice(-MIN_DIGITS)).size < MIN_DIFFERENT ||
    IN_ORDER.includes(digits);
  return isPlaceholder ? undefined : digits;
};

/** The same number, also when one of them has the code of its country before, of one to three digits. */
const isSameNumber = (one: string, other: string): boolean =>
  one.length < other.length
    ? isSameNumber(other, one)
    : one.endsWith(other) && one.length - other.length <= 3;

/** Lower-case mail addresses in a text. */
const addressesIn = (text: string): string[] =>
  text.includes('@')
    ? (text.toLowerCase().match(mailAddress) ?? []).map((address) => address.replaceAll(/^['.]+|['.]+$/g, ''))
    : [];

/**
 * Tells whether the body of an event is about a person: it gives their id as that of a person; or it has their id as a value
 * or a field name, their mail address in a text, or their phone number as the value of a field for one, and no id of
 * somebody else. A body that cannot be parsed is theirs when it has id or address anywhere.
 */
export const createPersonFinder = ({ ids, contacts, pointers }: Person) => {
  const addresses = contacts.filter(isMail).flatMap(addressesIn);
  const numbers = contacts.flatMap((contact) => digitsOf(contact) ?? []);
  const hasAddress = (text: string): boolean => addressesIn(text).some((one) => addresses.includes(one));
  const hasNumber = (text: string): boolean => {
    const digits = digitsOf(text);
    return digits !== undefined && numbers.some((number) => isSameNumber(number, digits));
  };
  /** What the values at a path may say. A body has many values at few paths. */
  const kindAt = (path: string) => ({
    isPersonId: idPath.test(path.toLowerCase().replaceAll(/[^a-z\d]/g, '')) || pointers.ids.includes(path),
    isPhone: phoneName.test(path.slice(path.lastIndexOf('/') + 1)) || pointers.phones.includes(path),
  });

  return (body: Buffer, contentType: string | undefined, isOfAnother: boolean): boolean => {
    let [isTheirs, isOthers, isMentioned] = [false, isOfAnother, false];
    const kinds = new Map<string, ReturnType<typeof kindAt>>();
    const visit = (value: unknown, path: string): void => {
      if (typeof value === 'object' && value !== null) {
        for (const [name, inner] of Object.entries(value)) {
          isMentioned ||= ids[0] === name;
          visit(inner, Array.isArray(value) ? path : `${path}/${name}`);
        }
        return;
      }
      if (typeof value !== 'string' && typeof value !== 'number') return;
      const text = String(value);
      const inner = /^\s*[{[]/.test(text) ? readable(Buffer.from(text), undefined) : undefined;
      if (inner !== undefined) visit(inner, path);
      const { isPersonId, isPhone } = kinds.get(path) ?? kindAt(path);
      kinds.set(path, { isPersonId, isPhone });
      if (isPersonId && text !== '') {
        if (ids.includes(text)) isTheirs = true;
        else isOthers = true;
      }
      isMentioned ||= ids[0] === text || hasAddress(text) || (isPhone && hasNumber(text));
    };
    const content = readable(body, contentType);
    if (content === undefined) {
      const text = body.toString('utf8');
      isMentioned = text.includes(ids[0]) || hasAddress(text);
    } else visit(content, '');
    return isTheirs || (isMentioned && !isOthers);
  };
};
