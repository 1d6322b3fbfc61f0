const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** A number in base 62, padded with zeros to `length` digits. Throws RangeError when it needs more. */
export const base62 = (value: bigint, length: number): string => {
  let text = '';
  let rest = value;
  for (let at = 0; at < length; at += 1) {
    text = `${digits[Number(rest % 62n)]}${text}`;
    rest /= 62n;
  }
  if (rest !== 0n) throw new RangeError('The number does not fit into so many base-62 digits.');
  return text;
};
