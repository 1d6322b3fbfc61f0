import { localStack } from '@platform/program/local-stack';

/** Address and secret of the wallet: from the environment, else of the stack that runs here. */
export const walletHere = (): { url: string; secret: string | undefined } => {
  const { OPERATOR_URL, HMAC_SECRET } = process.env;
  const stack = localStack();
  return {
    url: OPERATOR_URL ?? stack?.gateway ?? stack?.services['wallet-operator']?.url ?? 'http://127.0.0.1:8080',
    secret: HMAC_SECRET ?? stack?.demo?.wallet.hmacSecret,
  };
};
