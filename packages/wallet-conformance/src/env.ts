import { existsSync, readFileSync } from 'node:fs';

interface LocalStack {
  gateway: string | null;
  services?: Record<string, { url: string }>;
  demo?: { wallet?: { hmacSecret: string } };
}

/** Address and secret of the wallet: from the environment, else of the stack that runs in the current folder. */
export const walletHere = (): { url: string; secret: string | undefined } => {
  const { OPERATOR_URL, HMAC_SECRET } = process.env;
  const file = '.local/stack.json';
  const stack = existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as LocalStack) : undefined;
  return {
    url:
      OPERATOR_URL ?? stack?.gateway ?? stack?.services?.['wallet-operator']?.url ?? 'http://127.0.0.1:8080',
    secret: HMAC_SECRET ?? stack?.demo?.wallet?.hmacSecret,
  };
};
