import { hash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { runOutsideRequest } from '@platform/service-kit/request-scope';
import { noLookupLimit, type Guard } from '@platform/service-kit/route';

/** How old the answer about a credential may be. A guard may have kept it for 750 ms: together less than a second. */
const answerMs = 240;

/** Stands for the credential of a request, of which nothing is kept: its headers may be long. */
export const credentialOf = ({ headers }: IncomingMessage): string =>
  hash('sha256', JSON.stringify([headers.authorization, headers['x-api-key'], headers.cookie]));

/** Tells who has a credential now; all requests with it share the answer for a moment. */
export const createIdentities = <Caller>(auth: Pick<Guard<Caller>, 'identify'>) => {
  const answers = new Map<string, Promise<Caller>>();
  return {
    /** Rejects as the guard does. */
    identify: (req: IncomingMessage, credential: string): Promise<Caller> => {
      const known = answers.get(credential);
      if (known !== undefined) return known;
      const caller = runOutsideRequest(async () => auth.identify(req, noLookupLimit));
      answers.set(credential, caller);
      setTimeout(() => answers.delete(credential), answerMs).unref();
      return caller;
    },
    /** How many answers are kept. */
    get size(): number {
      return answers.size;
    },
  };
};
