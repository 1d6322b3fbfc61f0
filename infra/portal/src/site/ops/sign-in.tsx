import { useSignal, type Signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { demoCredentials, forgetDemo, type DemoCredentials } from '../demo.ts';
import { button, takeFocus } from './parts.tsx';
import { Refused, accountOf, isAbort, type Account, type Session } from './session.ts';
import {
  finishSignIn,
  goToProvider,
  readProvider,
  takeProviderResponse,
  type Provider,
} from './openid-connect.ts';
import { errorText } from './text.ts';

/** Whether the token was refused, and not only a service unavailable. */
const isInvalidToken = ({ status }: Refused): boolean => status >= 400 && status < 500;

/**
 * The sign-in form: with an account of the organisation if the gateway has a provider, or with an access token. Calls
 * `enter` when a service accepts the token, even one without scopes.
 */
export const SignIn = ({
  notice,
  begin,
  attempt,
  enter,
}: {
  notice: Signal<string>;
  /** Cancels a running sign-in; the returned signal cancels the new one. */
  begin: () => AbortSignal;
  /** Opens a session. It is closed by the next sign-in, and when the page is left. */
  attempt: (account: Account) => Session;
  enter: (session: Session) => void;
}) => {
  const token = useSignal('');
  const problem = useSignal('');
  const demo = useSignal<DemoCredentials>();
  const provider = useSignal<Provider | null>(null);

  /** Returns whether the token was refused (401). */
  const signIn = async (obtain: (signal: AbortSignal) => Promise<Account | undefined>): Promise<boolean> => {
    problem.value = '';
    const signal = begin();
    let session: Session | undefined;
    try {
      const account = await obtain(signal);
      signal.throwIfAborted();
      if (account === undefined) return false;
      session = attempt(account);
      await session.readScopes();
    } catch (error) {
      if (isAbort(error)) return false;
      if (session === undefined || !(error instanceof Refused) || isInvalidToken(error)) {
        session?.close();
        notice.value = '';
        problem.value = errorText(error);
        return error instanceof Refused && error.status === 401;
      }
    }
    enter(session);
    return false;
  };
  const tryToken = async (text: string): Promise<boolean> => {
    // A token has no other characters, and some cannot be sent in a header.
    if (/^[\w.-]+$/.test(text)) return signIn(() => Promise.resolve(accountOf(text)));
    notice.value = '';
    problem.value = 'This is not an access token.';
    return false;
  };
  const signInAtProvider = (target: Provider) =>
    signIn(async (signal) => {
      await goToProvider(target, signal);
      return undefined;
    });
  useEffect(() => {
    const providerResponse = takeProviderResponse();
    void demoCredentials().then((credentials) => (demo.value = credentials));
    void readProvider().then((loaded) => {
      provider.value = loaded;
      if (loaded && providerResponse) void signIn((signal) => finishSignIn(loaded, providerResponse, signal));
    });
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- once
  }, []);
  const submit = (event: Event): void => {
    event.preventDefault();
    const text = token.value.trim();
    token.value = '';
    void tryToken(text);
  };
  const useDemo = async ({ accessToken }: DemoCredentials): Promise<void> => {
    if (!(await tryToken(accessToken))) return;
    forgetDemo();
    demo.value = undefined;
    problem.value = 'The demo token is not valid any more. Open the link that `start` printed.';
  };
  const { value: credentials } = demo;
  const { value: organisation } = provider;
  return (
    <section id="sign-in" class="sign-in" aria-labelledby="sign-in-heading">
      <h1 id="sign-in-heading">Operations</h1>
      <p class="lead">
        For the person on call. Tokens stay in the memory of this page: they are not stored, and reloading the
        page removes them.
      </p>
      <p id="sign-in-notice" class="note" role="status">
        {notice}
      </p>
      {organisation && (
        <p class="actions">
          {button('Sign in with your organisation’s account', () => signInAtProvider(organisation))}
        </p>
      )}
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
          {button('Sign in', undefined, organisation ? 'quiet' : undefined)}
          {credentials && button('Use the demo token', () => useDemo(credentials), 'quiet')}
        </p>
      </form>
    </section>
  );
};
