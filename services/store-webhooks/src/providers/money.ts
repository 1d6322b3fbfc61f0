/** Creating a number format takes longer than mapping an order, so the digits of each currency are cached. */
const digitsByCurrency = new Map<string, number>();

/** Decimal places of a currency (ISO 4217). */
const digitsOf = (currency: string): number => {
  let digits = digitsByCurrency.get(currency);
  if (digits === undefined) {
    const format = new Intl.NumberFormat('en', { style: 'currency', currency });
    digitsByCurrency.set(currency, (digits = format.resolvedOptions().maximumFractionDigits ?? 2));
  }
  return digits;
};

/** The currency of a store that sets none. */
export const defaultCurrency = 'USD';

const currencies = new Set(Intl.supportedValuesOf('currency'));

/** Whether a text is the code of a currency (ISO 4217). */
export const isCurrency = (code: string): boolean => currencies.has(code);

/**
 * A decimal amount as whole minor units, rounded half away from zero: 10.005 USD is 1001. Shifts the
 * decimal point in the text, so that no binary fraction is multiplied.
 */
export const toMinor = (amount: number, currency: string): number => {
  const [mantissa = '0', exponent = '0'] = String(Math.abs(amount)).split('e');
  const scaled = Number(`${mantissa}e${Number(exponent) + digitsOf(currency)}`);
  return Math.sign(amount) * Math.round(scaled) || 0;
};

/** Minor units as the decimal number of POS payloads. */
export const fromMinor = (minor: number, currency: string): number =>
  Number(`${minor}e-${digitsOf(currency)}`);

/** The amounts of an order. */
export const amountNames = [
  'subTotal',
  'discount',
  'totalDiscount',
  'deliveryFee',
  'creditCardFee',
  'total',
  'taxTotal',
  'totalCalcTax',
] as const;
