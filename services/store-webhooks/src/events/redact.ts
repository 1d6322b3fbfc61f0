/**
 * Names of fields that hold secrets of a payment or say who somebody is; whatever lies below them
 * goes too.
 */
const sensitive =
  /^(cres|cavv|authentication_?value|xid|three_?ds_?session_?data|.*(token|secret|password|api_?key|authorization)|e?_?mail(_?address)?|.*(first|last|given|family|middle|full|display|cardholder)_?name(-.*)?|name|name[-_].*|phone.*|.*phone(_?number)?|mobile|fax|birth.*|dob|date_?of_?birth|address.*|.*address|street.*|postal.*|zip.*|city|recipients?|notes?|memo|driver_?location|location|lat|lng|latitude|longitude|.*document.*number|identification[-_]number|ssn|passport.*|iban|pan|card_?number|acct_?number|person|worker)$/i;

/** An address of a person, wherever somebody put it. */
const mailAddress = /[^\s@]+@[^\s@]+\.[^\s@]+/;

const hidden = '[redacted]';

/** A body for people to look at: the same shape, without secrets and personal data. */
export const redact = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(redact);
  if (typeof value === 'string') return mailAddress.test(value) ? hidden : value;
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [
      name,
      sensitive.test(name) && inner !== null ? hidden : redact(inner),
    ]),
  );
};
