import { isUtf8 } from 'node:buffer';
import { z } from 'zod';
import { fieldOf, identifierIn } from '../providers/payload-parsing.ts';

/** The 3DS server's id of a challenge: a UUID (EMV 3DS), or another text of printable ASCII. */
export const serverTransactionId = z
  .string()
  .regex(/^[!-~]{1,100}$/, 'must be 1 to 100 printable ASCII characters without spaces');

/** The EMV 3DS challenge result. It comes unsigned through the browser, so only its ids are used. */
const challengeResult = z.looseObject({ threeDSServerTransID: serverTransactionId });

/** The 3DS server's id in a cres, which is base64 or base64url of JSON; undefined when it is unreadable. */
export const serverTransactionOf = (cres: unknown): string | undefined => {
  if (typeof cres !== 'string' || !/^[\w+/=-]{1,20000}$/.test(cres)) return undefined;
  const bytes = Buffer.from(cres, 'base64');
  if (!isUtf8(bytes)) return undefined;
  try {
    const result = challengeResult.safeParse(JSON.parse(bytes.toString('utf8')));
    return result.data?.threeDSServerTransID;
  } catch {
    return undefined;
  }
};

/** The ids that threeDSSessionData may contain. It is returned as it was sent: the transaction id, or base64url of it. */
const sessionIds = (data: string | undefined): string[] => {
  if (data === undefined) return [];
  const bytes = Buffer.from(data, 'base64url');
  const decoded = isUtf8(bytes) ? identifierIn(bytes.toString('utf8')) : undefined;
  return decoded === undefined ? [data] : [data, decoded];
};

const cres = z.string().meta({ description: 'The 3DS challenge response: base64 or base64url of JSON' });

/** The body of payment-auth-completed: docs/contracts/store-webhooks.md. */
export const challengePayload = z
  .looseObject({
    service: z.string().meta({ description: 'The 3DS provider, such as threedsecureio' }),
    cres,
    transactionId: z.string().optional(),
  })
  .meta({
    id: 'PaymentAuthPayload',
    description: 'The end of a 3DS challenge',
    examples: [
      {
        service: 'threedsecureio',
        cres: 'eyJ0aHJlZURTU2VydmVyVHJhbnNJRCI6InRkcy0xIn0',
        transactionId: 't-1',
      },
    ],
  });

/** The form that the browser posts at the end of a challenge (EMV 3DS); the path names the service. */
export const challengeForm = z
  .looseObject({
    cres: cres.optional(),
    CRes: cres.optional(),
    threeDSSessionData: z.string().optional().meta({
      description: 'The transaction id, or base64url of it',
    }),
  })
  .meta({
    id: 'PaymentAuthForm',
    description: 'The form post of the browser; one of `cres` and `CRes` is needed',
  });

/** Fields of a payment auth payload that may be shown; see `unmaskedFields` of an adapter. */
export const unmaskedChallengeFields = ['/service', '/transactionId'];

export interface Challenge {
  /** Undefined if a JSON body names none. */
  service: string | undefined;
  serverTransactionId: string | undefined;
  /** Ids that the payment may be registered under; the first registered one counts. */
  transactionIds: string[];
  /** The id by which lists find the event: transactionId, else threeDSSessionData, else threeDSServerTransID. */
  paymentId: string | undefined;
}

/** Reads a payment auth payload: the contract's JSON, or the form that the browser posts. */
export const readChallenge = (body: unknown, pathService: string | null, isForm: boolean): Challenge => {
  const bodyService = identifierIn(fieldOf(body, 'service'));
  const serverTransactionId = serverTransactionOf(fieldOf(body, 'cres') ?? fieldOf(body, 'CRes'));
  const transactionId = identifierIn(fieldOf(body, 'transactionId'));
  const session = sessionIds(identifierIn(fieldOf(body, 'threeDSSessionData')));
  const candidates = transactionId === undefined ? [...session, serverTransactionId] : [transactionId];
  return {
    service: bodyService ?? (isForm ? (pathService ?? undefined) : undefined),
    serverTransactionId,
    paymentId: transactionId ?? session.at(-1) ?? serverTransactionId,
    transactionIds: [...new Set(candidates.filter((id) => id !== undefined))],
  };
};
