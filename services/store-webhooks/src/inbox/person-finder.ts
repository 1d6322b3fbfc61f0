import { readable } from '../providers/payload-parsing.ts';

/** What identifies a person in the body of an event. */
export interface Person {
  memberId: string;
  /** Mail addresses and phone numbers that no other member has. */
  contacts: readonly string[];
  /** JSON pointer (RFC 6901) to the member who ordered. */
  consumer: string;
}

/** A shorter id, or one of digits alone, also occurs as another value, such as a quantity. */
export const minIdLength = 8;
const personWords = new Set('consumer customer member user buyer person patron profile'.split(' '));
/** What stands below such a name is of the shop or its staff. */
const shopWords = new Set(
  'merchant shop store pickup seller vendor sender branch support staff cashier clerk driver courier dasher worker by'.split(
    ' ',
  ),
);
const phoneWords = new Set('phone mobile cell tel telephone telefon handy whatsapp'.split(' '));

/** Shorter numbers, those of few different digits and those in order are placeholders. */
const [minDigits, minDifferent] = [8, 4];
const inOrder = '01234567890 9876543210';

export const isMail = (contact: string): boolean => contact.includes('@');

/** Whether an id may be searched for in the whole of a body. */
const isDistinctive = (id: string): boolean => id.length >= minIdLength && /\D/.test(id);

/** The digits of a phone number without zeros before; undefined for any other text, and for a number that identifies nobody. */
export const digitsOf = (text: string): string | undefined => {
  if (text.length > 40 || /[^\d +()./-]/.test(text)) return undefined;
  const all = text.replace('(0)', '').replaceAll(/\D/g, '');
  const digits = all.slice([...all].findIndex((digit) => digit !== '0'));
  const isPlaceholder =
    digits.length < minDigits ||
    new Set(digits.slice(-minDigits)).size < minDifferent ||
    inOrder.includes(digits);
  return isPlaceholder ? undefined : digits;
};

/** The same number, also when one of them has the code of its country before, of one to three digits. */
const isSameNumber = (one: string, other: string): boolean =>
  one.length < other.length
    ? isSameNumber(other, one)
    : one.endsWith(other) && one.length - other.length <= 3;

/** Whether a text has an address that is not a part of a longer one. Both in lower case. */
const hasAddress = (text: string, address: string): boolean => {
  for (let at = -1; (at = text.indexOf(address, at + 1)) !== -1;) {
    const end = at + address.length;
    if (/[\w.+'-]/.test(text.charAt(at - 1))) continue;
    if (!/[\w-]/.test(text.charAt(end)) && !(text[end] === '.' && /\w/.test(text.charAt(end + 1))))
      return true;
  }
  return false;
};

/** Where a value stands. */
interface Place {
  /** JSON pointer, as long as it may become that of the consumer. */
  pointer: string | undefined;
  isOfShop: boolean;
  /** Of its names, in lower case. */
  lastWords: readonly string[];
  inner: Map<string, Place>;
}

/** `consumerUserId`, `consumer_user_id` → consumer, user, id. */
const wordsOf = (name: string): string[] =>
  name
    .slice(0, 100)
    .split(/(?=[A-Z])|[^A-Za-z]/)
    .map((word) => word.toLowerCase())
    .filter((word) => word !== '');

/**
 * Tells whether the body of an event is about a person. The member who ordered decides, where the body says who that is.
 * Else it is theirs when it has their id, their mail address, or their phone number in a field for one, and neither id,
 * address nor number of somebody else: what is erased wrongly is lost, what is left can be found by `?value=`.
 * `isOfAnother`: the event belongs to an order of another member.
 */
export const createPersonFinder = ({ memberId, contacts, consumer }: Person) => {
  const addresses = contacts.filter(isMail).map((address) => address.trim().toLowerCase());
  const numbers = contacts.flatMap((contact) => digitsOf(contact) ?? []);
  const mayOccurAnywhere = isDistinctive(memberId);
  const hasContact = (text: string): boolean => {
    const lower = text.includes('@') ? text.toLowerCase() : '';
    return addresses.some((address) => hasAddress(lower, address));
  };
  /** Whether a value names the person (true), somebody else (false), or nobody that is known. */
  const namedBy = (text: string, { isOfShop, lastWords }: Place): boolean | undefined => {
    if (isOfShop) return undefined;
    const [before = '', last = ''] = lastWords;
    if (last === 'id' && personWords.has(before)) return text === memberId;
    if (phoneWords.has(last) || phoneWords.has(before)) {
      const digits = digitsOf(text);
      if (digits !== undefined) return numbers.some((number) => isSameNumber(number, digits));
    }
    if (hasContact(text) || (mayOccurAnywhere && text === memberId)) return true;
    const isOtherAddress = text.length < 255 && /^[^\s@]+@[^\s@]+$/.test(text);
    return isOtherAddress ? false : undefined;
  };

  return (body: Buffer, contentType: string | undefined, isOfAnother: boolean): boolean => {
    const content = readable(body, contentType);
    if (content === undefined) {
      const text = body.toString('utf8');
      return (mayOccurAnywhere && text.includes(memberId)) || hasContact(text);
    }
    let [isNamed, isOthers, owner] = [false, isOfAnother, ''];
    const placeOf = (name: string, place: Place): Place => {
      const words = wordsOf(name);
      const pointer = `${place.pointer}/${name}`;
      return {
        pointer: place.pointer !== undefined && consumer.startsWith(pointer) ? pointer : undefined,
        isOfShop: place.isOfShop || words.some((word) => shopWords.has(word)),
        lastWords: ['', ...place.lastWords, ...words].slice(-2),
        inner: new Map(),
      };
    };
    /** Elements of an array have the same places. */
    const placeIn = (place: Place, name: string): Place => {
      const known = place.inner.get(name) ?? placeOf(name, place);
      place.inner.set(name, known);
      return known;
    };
    const visit = (value: unknown, place: Place): void => {
      if (typeof value === 'object' && value !== null) {
        for (const [name, inner] of Object.entries(value)) {
          if (mayOccurAnywhere && name === memberId) isNamed = true;
          visit(inner, Array.isArray(value) ? place : placeIn(place, name));
        }
        return;
      }
      if ((typeof value !== 'string' && typeof value !== 'number') || value === '') return;
      const text = String(value);
      if (place.pointer === consumer) owner = text;
      const inner = /^\s*[{[]/.test(text) ? readable(Buffer.from(text), undefined) : undefined;
      if (inner !== undefined) return visit(inner, place);
      const named = namedBy(text, place);
      isNamed ||= named === true;
      isOthers ||= named === false;
    };
    visit(content, { pointer: '', isOfShop: false, lastWords: [], inner: new Map() });
    return owner === '' ? isNamed && !isOthers : owner === memberId;
  };
};
