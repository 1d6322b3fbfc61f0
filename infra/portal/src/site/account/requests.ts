import { texts } from './language.ts';

/** What was entered into a form, by the names of its fields. */
type Entered = Readonly<Record<string, string>>;

/** What came of a request: done, or why not; `isFinal` when the link is of no use any more. */
export interface Outcome {
  isSending?: boolean;
  isDone?: boolean;
  problem?: string;
  isFinal?: boolean;
}

/** The part of an answer that the pages use. */
interface Answer {
  accessToken?: string;
  code?: string;
  errors?: Partial<Record<string, string[]>>;
}

/** No cookie is sent or taken: who is logged in here may be somebody else. */
const send = (path: string, init: RequestInit): Promise<Response> =>
  fetch(`/api/v1/auth/${path}`, {
    credentials: 'omit',
    cache: 'no-store',
    referrerPolicy: 'no-referrer',
    ...init,
  });

const problemOf = ({ status, headers }: Response, { code = '', errors = {} }: Answer): string => {
  const reasons = errors['newPassword']?.map(texts.reasonOf);
  if (reasons !== undefined) return reasons.join(' ');
  if (status === 429) return texts.tooMany(Number(headers.get('Retry-After')) || 1);
  const problems: Partial<Record<string, string>> = texts.problems;
  return problems[code] ?? texts.failed;
};

const post = async (
  path: string,
  body: object,
  then?: (answer: Answer) => Promise<unknown>,
): Promise<Outcome> => {
  try {
    const headers = { 'Content-Type': 'application/json' };
    const response = await send(path, { method: 'POST', headers, body: JSON.stringify(body) });
    // A 204 has no body, and that of a proxy may be anything.
    const answer = (await response.json().catch(() => ({}))) as Answer;
    if (!response.ok) return { problem: problemOf(response, answer), isFinal: response.status === 404 };
    await then?.(answer);
    return { isDone: true };
  } catch {
    return { problem: texts.unreachable, isFinal: false };
  }
};

/** A login takes a deletion back. Its session ends at once: these pages log nobody in. */
const endSession = ({ accessToken = '' }: Answer): Promise<unknown> =>
  send('logout', { headers: { Authorization: `Bearer ${accessToken}` } }).catch(() => undefined);

/** The request of each page, with the code of the mail. */
export const requestOf = {
  password: (token: string, { newPassword }: Entered) =>
    post('password/reset/confirm', { token, newPassword }),
  email: (token: string) => post('email/verify', { token }),
  deletion: (_code: string, { email, password }: Entered) => post('login', { email, password }, endSession),
};
