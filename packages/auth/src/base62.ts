const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** A number in base 62 with `length` digits, filled up with zeros. It must fit. */
export const base62 = (value: bigint, length: number): string => {
  let text = '';
  let rest = value;
  for (let at = 0; at < length; at += 1) {
    text = `${digits[Number(rest % 62n)]}${text}`;
    rest /= 62n;
  }
  if (rest !== 0n) throw new RangeError('The number has too many digits.');
  return text;
};
