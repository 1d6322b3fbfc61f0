/** A format takes longer to make than an order to map; three letters name so many currencies at most. */
const known = new Map<string, number>();

/** Digits after the point of a currency (ISO 4217). */
const digitsOf = (currency: string): number => {
  let digits = known.get(currency);
  if (digits === undefined) {
    const format = new Intl.NumberFormat('en', { style: 'currency', currency });
    known.set(currency, (digits = format.resolvedOptions().maximumFractionDigits ?? 2));
  }
  return digits;
};

/**
 * A decimal amount as whole minor units, halves away from zero: 10.005 USD is 1001. Works on the
 * decimal digits that were sent, so that no binary fraction gets in.
 */
export const toMinor = (amount: number, currency: string): number => {
  const [mantissa = '0', exponent = '0'] = String(Math.abs(amount)).split('e');
  const scaled = Number(`${mantissa}e${Number(exponent) + digitsOf(currency)}`);
  return Math.sign(amount) * Math.round(scaled) || 0;
};

/** Minor units as the decimal number that the seed's payloads use. */
export const fromMinor = (minor: number, currency: string): number =>
  Number(`${minor}e-${digitsOf(currency)}`);
