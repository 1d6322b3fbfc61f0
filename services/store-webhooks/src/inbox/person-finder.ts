import { readable } from '../providers/payload-parsing.ts';

/** The data that identifies a person in the body of an event. */
export interface Person {
  memberId: string;
  /** Mail addresses and phone numbers that no other member has. */
  contacts: readonly string[];
  /** JSON pointer (RFC 6901) to the member who ordered. */
  consumerPointer: string;
}

/** A shorter id, or one of digits alone, also occurs as another value, such as a quantity. */
export const minIdLength = 8;
const personWords = new Set('consumer customer member user buyer person patron profile'.split(' '));
/** Values below a field with one of these words in its name belong to the shop or its staff. */
const shopWords = new Set(
  'merchant shop store pickup seller vendor sender branch support staff cashier clerk driver courier dasher worker by'.split(
    ' ',
  ),
);
const phoneWords = new Set('phone mobile cell tel telephone telefon handy whatsapp'.split(' '));

/** Numbers that are shorter, have fewer distinct digits or are a sequence of digits are placeholders. */
const [minDigits, minDistinctDigits] = [8, 4];
const digitSequences = '01234567890 9876543210';

export const isMail = (contact: string): boolean => contact.includes('@');

/** Whether an id is distinctive enough to be searched for in all values of a body. */
const isDistinctive = (id: string): boolean => id.length >= minIdLength && /\D/.test(id);

/** The digits of a phone number without leading zeros; undefined for any other text and for a placeholder. */
export const digitsOf = (text: string): string | undefined => {
  if (text.length > 40 || /[^\d +()./-]/.test(text)) return undefined;
  const allDigits = text.replace('(0)', '').replaceAll(/\D/g, '');
  const digits = allDigits.slice([...allDigits].findIndex((digit) => digit !== '0'));
  const isPlaceholder =
    digits.length < minDigits ||
    new Set(digits.slice(-minDigits)).size < minDistinctDigits ||
    digitSequences.includes(digits);
  return isPlaceholder ? undefined : digits;
};

/** Whether two phone numbers are the same, apart from a country code of one to three digits. */
const isSameNumber = (longer: string, shorter: string): boolean =>
  longer.length < shorter.length
    ? isSameNumber(shorter, longer)
    : longer.endsWith(shorter) && longer.length - shorter.length <= 3;

/** Whether a text contains an address that is not part of a longer one. Both must be in lower case. */
const hasAddress = (text: string, address: string): boolean => {
  for (let at = -1; (at = text.indexOf(address, at + 1)) !== -1;) {
    const end = at + address.length;
    if (/[\w.+'-]/.test(text.charAt(at - 1))) continue;
    if (!/[\w-]/.test(text.charAt(end)) && !(text[end] === '.' && /\w/.test(text.charAt(end + 1))))
      return true;
  }
  return false;
};

/**
 * Maximum number of values and of words in field names of a body, with those of JSON inside of its texts. What follows
 * is searched as text, because reading it would block other requests.
 */
const maxVisits = 30_000;
/** Parsing such a text, which may be invalid, takes as long as visiting this many values. */
const visitsPerInnerJson = 20;

/** The position of a value in a body. */
interface Position {
  /** JSON pointer; undefined once it can no longer lead to `consumerPointer`. */
  pointer: string | undefined;
  isOfShop: boolean;
  /** The last two words of its field names, in lower case. */
  lastWords: readonly string[];
  inner: Map<string, Position>;
}

/** `consumerUserId`, `consumer_user_id` → consumer, user, id. */
const wordsOf = (name: string): string[] =>
  name
    .slice(0, 100)
    .split(/(?=[A-Z])|[^A-Za-z]/)
    .map((word) => word.toLowerCase())
    .filter((word) => word !== '');

/**
 * Returns a function that decides whether the body of an event is about a person. If the body says which member ordered, that
 * decides. Otherwise it is about the person if it contains their id, their mail address, or their phone number in a phone field,
 * and no id, address or number of somebody else: a body erased by mistake is lost, one that is missed can be found by `?value=`.
 * `isOfAnother`: the event belongs to an order of another member.
 */
export const createPersonFinder = ({ memberId, contacts, consumerPointer }: Person) => {
  const addresses = contacts.filter(isMail).map((address) => address.trim().toLowerCase());
  const numbers = contacts.flatMap((contact) => digitsOf(contact) ?? []);
  const mayOccurAnywhere = isDistinctive(memberId);
  const hasContact = (text: string): boolean => {
    const lower = text.includes('@') ? text.toLowerCase() : '';
    return addresses.some((address) => hasAddress(lower, address));
  };
  /** Whether a value identifies the person (true), somebody else (false), or nobody (undefined). */
  const identifiesPerson = (text: string, { isOfShop, lastWords }: Position): boolean | undefined => {
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
    const isInText = (): boolean => {
      const text = body.toString('utf8');
      return (mayOccurAnywhere && text.includes(memberId)) || hasContact(text);
    };
    const content = readable(body, contentType);
    if (content === undefined) return isInText();
    let visits = 0;
    let [hasPerson, hasOthers, ordererId] = [false, isOfAnother, ''];
    const positionOf = (name: string, position: Position): Position => {
      const words = wordsOf(name);
      visits += words.length;
      const pointer = `${position.pointer}/${name}`;
      return {
        pointer: position.pointer !== undefined && consumerPointer.startsWith(pointer) ? pointer : undefined,
        isOfShop: position.isOfShop || words.some((word) => shopWords.has(word)),
        lastWords: ['', ...position.lastWords, ...words].slice(-2),
        inner: new Map(),
      };
    };
    /** The elements of an array share their positions. */
    const positionIn = (position: Position, name: string): Position => {
      const known = position.inner.get(name) ?? positionOf(name, position);
      position.inner.set(name, known);
      return known;
    };
    const visit = (value: unknown, position: Position): void => {
      if (++visits > maxVisits) return;
      if (typeof value === 'object' && value !== null) {
        for (const [name, inner] of Object.entries(value)) {
          if (visits > maxVisits) return;
          if (mayOccurAnywhere && name === memberId) hasPerson = true;
          visit(inner, Array.isArray(value) ? position : positionIn(position, name));
        }
        return;
      }
      if ((typeof value !== 'string' && typeof value !== 'number') || value === '') return;
      const text = String(value);
      if (position.pointer === consumerPointer) ordererId = text;
      if (/^\s*[{[]/.test(text)) {
        visits += visitsPerInnerJson;
        const inner = readable(Buffer.from(text), undefined);
        if (inner !== undefined) return visit(inner, position);
      }
      const isPerson = identifiesPerson(text, position);
      hasPerson ||= isPerson === true;
      hasOthers ||= isPerson === false;
    };
    visit(content, { pointer: '', isOfShop: false, lastWords: [], inner: new Map() });
    if (ordererId !== '') return ordererId === memberId;
    return !hasOthers && (hasPerson || (visits > maxVisits && isInText()));
  };
};
