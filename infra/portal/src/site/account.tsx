import { useSignal } from '@preact/signals';
import { render, type TargetedEvent } from 'preact';
import { texts } from './account-texts.ts';
import { byId } from './element.ts';
import { Input, button, enteredIn, takeFocus } from './ops/parts.tsx';

/** What was entered into a form, by the names of its fields. */
type Entered = Readonly<Record<string, string>>;

/** What came of a request: done, or why not; `isFinal` when the link is of no use any more. */
interface Outcome {
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
const requestOf = {
  password: (token: string, { newPassword }: Entered) =>
    post('password/reset/confirm', { token, newPassword }),
  email: (token: string) => post('email/verify', { token }),
  deletion: (_code: string, { email, password }: Entered) => post('login', { email, password }, endSession),
};

/** The code of the mail, behind `#`. It is taken out of the address and the history; no server has seen it. */
const code = location.hash.slice(1);
if (code !== '') history.replaceState(null, '', location.pathname);
// Another link of a mail that is opened in this tab changes only the fragment.
addEventListener('hashchange', () => location.reload());

const NewPassword = () => {
  const isShown = useSignal(false);
  return (
    <>
      <Input
        label={texts.newPassword}
        name="newPassword"
        {...(isShown.value ? { type: 'text' } : { type: 'password' })}
        autoComplete="new-password"
        aria-describedby="problem"
        required
        ref={takeFocus}
      />
      <label>
        <input type="checkbox" checked={isShown} onChange={() => (isShown.value = !isShown.value)} />{' '}
        {texts.showPassword}
      </label>
    </>
  );
};

const Credentials = () => (
  <>
    <Input
      label={texts.emailAddress}
      name="email"
      type="email"
      autoComplete="username"
      required
      ref={takeFocus}
    />
    <Input
      label={texts.currentPassword}
      name="password"
      type="password"
      autoComplete="current-password"
      aria-describedby="problem"
      required
    />
  </>
);

/** What is entered on each page. */
const fields = { password: <NewPassword />, email: null, deletion: <Credentials /> };

/** A form that sends one request, and shows what came of it. */
const Page = ({ name }: { name: keyof typeof fields }) => {
  const { title, lead, verb, done } = texts[name];
  const isUseless = code === '' && name !== 'deletion';
  const state = useSignal<Outcome>(isUseless ? { problem: texts.noCode, isFinal: true } : {});
  const submit = async (event: TargetedEvent<HTMLFormElement>): Promise<void> => {
    const entered = enteredIn(event);
    // A second click while the first one is on its way.
    if (state.peek().isSending) return;
    state.value = { isSending: true };
    state.value = await requestOf[name](code, entered);
  };
  const { isSending, problem = '', isFinal, isDone } = state.value;
  return (
    <section class="sign-in" aria-labelledby="heading">
      <h1 id="heading">{title}</h1>
      {isDone || isFinal ? (
        // With the focus, so that it is read out.
        <p class="note" tabIndex={-1} role="status" ref={takeFocus}>
          {isDone ? done : problem}
        </p>
      ) : (
        <>
          <p class="lead">{lead}</p>
          <form onSubmit={(event) => void submit(event)} aria-busy={isSending}>
            {fields[name]}
            <p id="problem" class="error" role="alert">
              {problem}
            </p>
            <p class="actions">{button(verb)}</p>
          </form>
        </>
      )}
    </section>
  );
};

const [, , page = ''] = location.pathname.split('/');
const name = page === 'email' || page === 'deletion' ? page : 'password';
document.title = texts[name].title;
render(<Page name={name} />, byId('content', HTMLElement));
