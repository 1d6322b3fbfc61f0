import { useSignal, type Signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { demoCredentials, forgetDemo, type DemoCredentials } from '../demo.ts';
import { button, takeFocus } from './parts.tsx';
import { isAbort } from './network.ts';
import { Refused, type Session } from './session.ts';
import { errorText } from './text.ts';

/** Whether the token itself was refused: an unavailable service is no reason to refuse it. */
const isInvalidToken = ({ status }: Refused): boolean => status >= 400 && status < 500;

/** The form for an access token. Calls `enter` when a service accepts the token, whatever its scopes are. */
export const SignIn = ({
  notice,
  attempt,
  enter,
}: {
  notice: Signal<string>;
  /** Opens a session with a token. It is closed by the next attempt, and when the page is left. */
  attempt: (token: string) => Session;
  enter: (session: Session) => void;
}) => {
  const token = useSignal('');
  const problem = useSignal('');
  const demo = useSignal<DemoCredentials>();
  useEffect(() => {
    void demoCredentials().then((credentials) => (demo.value = credentials));
  }, [demo]);

  /** Returns whether the token was refused (401). */
  const tryToken = async (given: string): Promise<boolean> => {
    problem.value = '';
    notice.value = '';
    // No other character can be in a header.
    if (!/^[\w.-]+$/.test(given)) {
      problem.value = 'This is not an access token.';
      return false;
    }
    const session = attempt(given);
    try {
      await session.readScopes();
    } catch (error) {
      if (isAbort(error)) return false;
      if (!(error instanceof Refused) || isInvalidToken(error)) {
        session.close();
        notice.value = '';
        problem.value = errorText(error);
        return error instanceof Refused && error.status === 401;
      }
    }
    enter(session);
    return false;
  };
  const submit = (event: Event): void => {
    event.preventDefault();
    const given = token.value.trim();
    token.value = '';
    void tryToken(given);
  };
  const useDemo = async ({ accessToken }: DemoCredentials): Promise<void> => {
    if (!(await tryToken(accessToken))) return;
    forgetDemo();
    demo.value = undefined;
    problem.value = 'The demo token is not valid any more. Open the link that `start` printed.';
  };
  const { value: credentials } = demo;
  return (
    <section id="sign-in" class="sign-in" aria-labelledby="sign-in-heading">
      <h1 id="sign-in-heading">Operations</h1>
      <p class="lead">
        For the person on call. The token stays in the memory of this page: it is not stored, and reloading
        the page removes it.
      </p>
      <p id="sign-in-notice" class="note" role="status">
        {notice}
      </p>
      <form id="sign-in-form" autoComplete="off" onSubmit={submit}>
        <label htmlFor="token">Access token</label>
        <input
          id="token"
          type="text"
          class="masked"
          autoComplete="off"
          autoCapitalize="off"
          spellcheck={false}
          required
          aria-describedby="token-help sign-in-error"
          ref={takeFocus}
          value={token}
          onInput={({ currentTarget }) => (token.value = currentTarget.value)}
        />
        <p id="token-help" class="soft">
          Scopes: <code>ops:read</code> for health and traffic, <code>stores:admin</code> for webhooks,{' '}
          <code>wallet:read</code> and <code>wallet:admin</code> for rounds and the ledger,{' '}
          <code>wallet:audit</code> for evidence.
        </p>
        <p id="sign-in-error" class="error" role="alert">
          {problem}
        </p>
        <p class="actions">
          <button type="submit">Sign in</button>
          {credentials && button('Use the demo token', () => useDemo(credentials), 'quiet')}
        </p>
      </form>
    </section>
  );
};
