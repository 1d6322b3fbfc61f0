import { useSignal } from '@preact/signals';
import { render, type TargetedEvent } from 'preact';
import { texts } from './account-texts.ts';
import { byId } from './element.ts';
import { Input, button, formValues, takeFocus } from './ops/parts.tsx';

/** Values of a form, by field name. */
type FormValues = Readonly<Record<string, string>>;

/** State of the request. `isFinal`: the link can no longer be used. */
interface RequestState {
  isSending?: boolean;
  isDone?: boolean;
  problem?: string;
  isFinal?: boolean;
}

/** The fields of a response that the pages use. */
interface ResponseBody {
  accessToken?: string;
  code?: string;
  errors?: Partial<Record<string, string[]>>;
}

/** Sends a request without cookies, because another user may be logged in in this browser. */
const send = (path: string, init: RequestInit): Promise<Response> =>
  fetch(`/api/v1/auth/${path}`, {
    credentials: 'omit',
    cache: 'no-store',
    referrerPolicy: 'no-referrer',
    ...init,
  });

const problemOf = ({ status, headers }: Response, { code = '', errors = {} }: ResponseBody): string => {
  const reasons = errors['newPassword']?.map(texts.reasonOf);
  if (reasons !== undefined) return reasons.join(' ');
  if (status === 429) return texts.tooMany(Number(headers.get('Retry-After')) || 1);
  const problems: Partial<Record<string, string>> = texts.problems;
  return problems[code] ?? texts.failed;
};

const post = async (
  path: string,
  body: object,
  onSuccess?: (responseBody: ResponseBody) => Promise<unknown>,
): Promise<RequestState> => {
  try {
    const headers = { 'Content-Type': 'application/json' };
    const response = await send(path, { method: 'POST', headers, body: JSON.stringify(body) });
    // A 204 has no body, and a proxy may send any body.
    const responseBody = (await response.json().catch(() => ({}))) as ResponseBody;
    if (!response.ok) return { problem: problemOf(response, responseBody), isFinal: response.status === 404 };
    await onSuccess?.(responseBody);
    return { isDone: true };
  } catch {
    return { problem: texts.unreachable, isFinal: false };
  }
};

/** Ends the session of a login. A login only cancels the deletion: these pages do not log users in. */
const endSession = ({ accessToken = '' }: ResponseBody): Promise<unknown> =>
  send('logout', { headers: { Authorization: `Bearer ${accessToken}` } }).catch(() => undefined);

/** Sends the request of each page with the code of the mail. */
const submitters = {
  password: (token: string, { newPassword }: FormValues) =>
    post('password/reset/confirm', { token, newPassword }),
  email: (token: string) => post('email/verify', { token }),
  deletion: (_code: string, { email, password }: FormValues) =>
    post('login', { email, password }, endSession),
};

/** The code of the mail, from the fragment, which no server receives. It is removed from the address and the history. */
const code = location.hash.slice(1);
if (code !== '') history.replaceState(null, '', location.pathname);
// Opening another link of a mail in this tab changes only the fragment, so the page must reload.
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

/** The input fields of each page. */
const fields = { password: <NewPassword />, email: null, deletion: <Credentials /> };

/** A form that sends one request and shows its result. */
const Page = ({ name }: { name: keyof typeof fields }) => {
  const { title, lead, verb, done } = texts[name];
  const hasNoCode = code === '' && name !== 'deletion';
  const state = useSignal<RequestState>(hasNoCode ? { problem: texts.noCode, isFinal: true } : {});
  const submit = async (event: TargetedEvent<HTMLFormElement>): Promise<void> => {
    const values = formValues(event);
    // Ignores a second click while the request is running.
    if (state.peek().isSending) return;
    state.value = { isSending: true };
    state.value = await submitters[name](code, values);
  };
  const { isSending, problem = '', isFinal, isDone } = state.value;
  return (
    <section class="sign-in" aria-labelledby="heading">
      <h1 id="heading">{title}</h1>
      {isDone || isFinal ? (
        // Gets the focus, so that screen readers read it.
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
