import { UsageError } from '@platform/program';
import type { SignatureString } from '@platform/wallet-protocol/signing';
import { defaultWallet } from '../env.ts';
import type { Values } from './command.ts';
import { callbackPath, openWallet, type Target } from '../certify/wallet.ts';

/** Options of the commands that send callbacks; `secret` is empty when there is none. */
export const walletOptions = {
  url: { type: 'string', default: defaultWallet().url },
  secret: { type: 'string', default: defaultWallet().secret ?? '' },
} as const;

/** Throws a UsageError when there is no secret. */
export const expectSecret = (secret: string): void => {
  if (secret === '') throw new UsageError('set --secret or HMAC_SECRET, or start the local stack first');
};

/** Options of the commands that test a wallet. */
export const targetOptions = {
  ...walletOptions,
  currency: { type: 'string' },
  game: { type: 'string', default: 'dice-alpha' },
  signature: { type: 'string', default: 'timestamp+path+body' },
} as const;

export const targetUsage = `  --url <url>            address before /callback (default: the variable OPERATOR_URL, else the local stack)
  --secret <secret>      HMAC secret (default: the variable HMAC_SECRET, else that of the local stack)
  --currency <code>      currency of the player (default: tries all currencies)
  --game <code>          a game that is enabled (dice-alpha)
  --signature <string>   timestamp+path+body or timestamp+body
`;

const isSignatureString = (text: string): text is SignatureString =>
  text === 'timestamp+path+body' || text === 'timestamp+body';

/** Reads the wallet to test from the options. Throws for wrong options, and when the player's currency cannot be found. */
export const readTarget = async (
  values: Values<typeof targetOptions>,
  player: string | undefined,
  deadline?: AbortSignal,
): Promise<Target> => {
  const { url, secret, game, signature } = values;
  if (!secret || !player || !URL.canParse(url))
    throw new UsageError('--player, --url and --secret (or HMAC_SECRET) are required');
  if (!isSignatureString(signature))
    throw new UsageError('--signature must be timestamp+path+body or timestamp+body');
  const wallet = { url, secret, player, game, signatureString: signature, deadline };
  return { ...wallet, currency: values.currency ?? (await findCurrency(wallet)) };
};

/** Currencies that are tried first, because most players have one of them. */
const frequentCurrencies = ['EUR', 'USD', 'GBP', 'CNY', 'JPY', 'BRL', 'INR', 'CAD', 'AUD', 'TRY'];

/**
 * Finds the currency of the player: no callback returns it, so this calls `authenticate` with every currency of ISO 4217
 * until the answer is not ERROR_WRONG_CURRENCY. Throws when no currency is accepted.
 */
const findCurrency = async (target: Omit<Target, 'currency'>): Promise<string> => {
  const wallet = openWallet({ ...target, currency: '' });
  const codes = new Set([...frequentCurrencies, ...Intl.supportedValuesOf('currency')]);
  for (const currency of codes) {
    const { status, text, http } = await wallet.authenticate({ currency });
    if (status === 'OK') return currency;
    if (status !== 'ERROR_WRONG_CURRENCY')
      throw new Error(
        `the player's currency cannot be read: POST ${callbackPath(new URL(target.url), 'authenticate')} answered HTTP ${http} ${text.slice(0, 300)}`,
      );
  }
  throw new Error(
    "no ISO 4217 currency is accepted for this player; set the player's currency with --currency",
  );
};
