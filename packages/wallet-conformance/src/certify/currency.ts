import type { Target } from './wallet.ts';
import { openWallet } from './wallet.ts';

/** Tried first, because most players have one of them. */
const frequent = ['EUR', 'USD', 'GBP', 'CNY', 'JPY', 'BRL', 'INR', 'CAD', 'AUD', 'TRY'];

/**
 * Finds the currency of the player's wallet: no callback returns it, so `authenticate` is asked with one currency after
 * the other (all of ISO 4217) until it stops answering ERROR_WRONG_CURRENCY. Throws when none is accepted.
 */
export const readCurrency = async (target: Omit<Target, 'currency'>): Promise<string> => {
  const wallet = openWallet({ ...target, currency: '' });
  const codes = new Set([...frequent, ...Intl.supportedValuesOf('currency')]);
  for (const currency of codes) {
    const { status, text, http } = await wallet.authenticate({ currency });
    if (status === 'OK') return currency;
    if (status !== 'ERROR_WRONG_CURRENCY')
      throw new Error(
        `the player's currency can not be read: authenticate answered HTTP ${http} ${text.slice(0, 300)}`,
      );
  }
  throw new Error("no ISO 4217 currency is accepted for this player; give the player's own with --currency");
};
