import { localStack } from '@platform/program/local-stack';

/** Default address and secret of the wallet: from the environment, else from the local stack. */
export const defaultWallet = (): { url: string; secret: string | undefined } => {
  const { OPERATOR_URL, HMAC_SECRET } = process.env;
  const stack = localStack();
  return {
    url: OPERATOR_URL ?? stack?.gateway ?? stack?.services['wallet-operator']?.url ?? 'http://127.0.0.1:8080',
    secret: HMAC_SECRET ?? stack?.demo?.wallet.hmacSecret,
  };
};
