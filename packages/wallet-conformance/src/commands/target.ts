import { UsageError } from '@platform/program';
import type { SignatureString } from '@platform/wallet-protocol/signing';
import { walletHere } from '../env.ts';
import { callbackPath, openWallet, type Target } from '../certify/wallet.ts';

/** A command of the program. `run` resolves with the exit code, and rejects when it was called wrongly. */
export interface Command {
  usage: string;
  run(args: string[]): Promise<number>;
}

/** Options of the commands that test a wallet. */
export const targetOptions = {
  url: { type: 'string', default: walletHere().url },
  secret: { type: 'string', default: walletHere().secret ?? '' },
  currency: { type: 'string' },
  game: { type: 'string', default: 'dice-alpha' },
  signature: { type: 'string', default: 'timestamp+path+body' },
} as const;

export const targetUsage = `  --url <url>            what stands before /callback (the variable OPERATOR_URL, else that of the stack that runs here)
  --secret <secret>      of the HMAC (the variable HMAC_SECRET, else that of the stack that runs here)
  --currency <code>      currency of the player's wallet (found out by trying)
  --game <code>          a game that is enabled (dice-alpha)
  --signature <string>   timestamp+path+body or timestamp+body
`;

interface Values {
  url: string;
  secret: string;
  currency?: string | undefined;
  game: string;
  signature: string;
}

const isSignatureString = (text: string): text is SignatureString =>
  text === 'timestamp+path+body' || text === 'timestamp+body';

/** The wallet to test. Throws an Error for wrong options, and when the player's currency cannot be found out. */
export const targetOf = async (
  values: Values,
  player: string | undefined,
  deadline?: AbortSignal,
): Promise<Target> => {
  const { url, secret, game, signature } = values;
  if (!secret || !player || !URL.canParse(url))
    throw new UsageError('--player, --url and --secret (or HMAC_SECRET) are needed');
  if (!isSignatureString(signature))
    throw new UsageError('--signature is timestamp+path+body or timestamp+body');
  const wallet = { url, secret, player, game, signatureString: signature, deadline };
  return { ...wallet, currency: values.currency ?? (await readCurrency(wallet)) };
};

/** A whole number of at most ten digits. Throws an Error that names the option. */
export const countOf = (text: string, option: string): number => {
  if (!/^\d{1,10}$/.test(text)) throw new UsageError(`--${option} is a whole number`);
  return Number(text);
};

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
        `the player's currency can not be read: POST ${callbackPath(new URL(target.url), 'authenticate')} answered HTTP ${http} ${text.slice(0, 300)}`,
      );
  }
  throw new Error("no ISO 4217 currency is accepted for this player; give the player's own with --currency");
};
