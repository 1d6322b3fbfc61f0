import { isDeepStrictEqual } from 'node:util';
import type { Passwords } from '@platform/auth/password';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { apply, operationKinds, type Operation } from './account-model.ts';
import { isLive, startModel, type Model } from './account-state.ts';
import { operatorKeys, startService } from './harness.ts';

/** Stores passwords without hashing, which would be slow: these tests check only when passwords are compared and set. */
const passwords: Passwords = {
  hash: (password) => Promise.resolve(password),
  verify: async (stored, password) => {
    const storedPassword = typeof stored === 'function' ? await stored() : stored;
    return { matches: storedPassword === password, rehash: false };
  },
};

/** Seconds by which the clocks of the replicas are fast. */
let clockOffset = 0;
const replicaOptions = {
  variables: { SMTP_URL: 'smtp://127.0.0.1:1', TRUST_PROXY: 'loopback' },
  overrides: {
    loginPasswords: passwords,
    registrationPasswords: passwords,
    now: () => new Date(Date.now() + clockOffset * 1000),
  },
};

type Service = Awaited<ReturnType<typeof startService>>;
let replicas: [Service, Service];
let operator: string;
beforeAll(async () => {
  const first = await startService(replicaOptions);
  replicas = [first, await startService({ ...replicaOptions, databaseUrl: first.databaseUrl })];
  operator = await operatorKeys.token({ scope: 'accounts:admin', ttl: 100 * 365 * 86_400 });
});
afterAll(async () => {
  for (const replica of replicas.toReversed()) await replica[Symbol.asyncDispose]();
});

const addressCount = 3;
const waits = [40, 240, 660, 1000, 2000, 15 * 86_400, 31 * 86_400];

const draft = fc.record({
  kind: fc.constantFrom(
    ...operationKinds,
    ...([
      'register',
      'login',
      'login',
      'refresh',
      'refreshWithPrevious',
      'changePassword',
      'changeEmailWithPassword',
    ] as const),
    ...([
      'resetPassword',
      'resetPassword',
      'confirmEmail',
      'confirmEmail',
      'requestReset',
      'deleteAccount',
      'wait',
    ] as const),
  ),
  choices: fc.array(fc.nat(999), { minLength: 5, maxLength: 5 }),
  address: fc.nat(addressCount - 1),
  password: fc.nat(2),
  to: fc.nat(2),
  knowsPassword: fc.integer({ min: 0, max: 4 }).map((n) => n > 0),
  seconds: fc.constantFrom(...waits, ...waits.slice(0, 3)),
});

type Draft = typeof draft extends fc.Arbitrary<infer T> ? T : never;

/** Creates the operation of a draft for users, sessions and codes of the model: mostly the newest, mostly with the right password. */
const operationOf = ({ choices, knowsPassword, ...fields }: Draft, model: Model): Operation => {
  const [user = 0, session = 0, other = 0, code = 0, recent = 0] = choices;
  const newest = (n: number, length: number) =>
    Math.max(0, length - 1 - (n % Math.min(length + 1, recent % 2 === 0 ? 2 : 8)));
  const targets = {
    user: user % (model.users.length + 1),
    session: newest(session, model.sessions.length),
    other: newest(other, model.sessions.length),
    code: newest(code, model.codes.length),
  };
  const holder = ['login', 'register'].includes(fields.kind)
    ? model.users.find(({ address }) => address === fields.address)
    : model.users[model.sessions[targets.session]?.user ?? -1];
  const password = knowsPassword ? (holder?.password ?? fields.password) : fields.password;
  return { ...fields, ...targets, password };
};

/** The credentials that a client has of a session. */
interface Client {
  sessionId: string;
  token: string;
  refresh: string;
  previousRefresh: string;
}

/** Ids and credentials that correspond to the numbers of the model. */
interface Credentials {
  emails: string[];
  users: string[];
  clients: Client[];
  codes: string[];
}

const passwordOf = (n: number): string => `a phrase of number ${n}`;
const unknownId = '01900000-0000-7000-8000-000000000000';
let requestCount = 0;

const call = async (
  replica: Service,
  method: string,
  path: string,
  {
    token,
    cookie,
    body,
  }: { token?: string | undefined; cookie?: string | undefined; body?: object | undefined },
) => {
  requestCount++;
  const answer = await fetch(`${replica.url}/api/v1/auth${path}`, {
    method,
    headers: {
      // A new network for each request, so that failed logins cause no waits.
      'X-Forwarded-For': `10.${(requestCount >> 16) & 255}.${(requestCount >> 8) & 255}.${requestCount & 255}`,
      ...(token !== undefined && { Authorization: `Bearer ${token}` }),
      ...(cookie !== undefined && { Cookie: cookie }),
      ...(body && { 'Content-Type': 'application/json' }),
    },
    ...(body && { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  const refresh = answer.headers
    .getSetCookie()
    .find((line) => line.includes('refresh='))
    ?.split(';', 1)[0];
  return {
    status: answer.status,
    refresh,
    body: text === '' ? {} : (JSON.parse(text) as { accessToken?: string; user?: { id: string } }),
  };
};

type Answer = Awaited<ReturnType<typeof call>>;

/** Sends the request of an operation. */
const send = (
  replica: Service,
  { emails, users, clients, codes }: Credentials,
  operation: Operation,
): Promise<Answer> => {
  const { kind } = operation;
  const email = emails[operation.address];
  const password = passwordOf(operation.password);
  const newPassword = passwordOf(operation.to);
  const { token = 'none', refresh, previousRefresh } = clients[operation.session] ?? {};
  const code = codes[operation.code] ?? 'none';
  const admin = `/admin/users/${users[operation.user] ?? unknownId}`;
  const requests: Record<
    Exclude<Operation['kind'], 'wait'>,
    [method: string, path: string, options: Parameters<typeof call>[3]]
  > = {
    register: ['POST', '/register', { body: { email, password } }],
    login: ['POST', '/login', { body: { email, password } }],
    check: ['GET', '/check', { token }],
    refresh: ['POST', '/refresh', { cookie: refresh }],
    refreshWithPrevious: ['POST', '/refresh', { cookie: previousRefresh }],
    logout: ['GET', '/logout', { token }],
    endSession: ['DELETE', `/sessions/${clients[operation.other]?.sessionId ?? unknownId}`, { token }],
    endOtherSessions: ['DELETE', '/sessions', { token }],
    reauthenticate: ['POST', '/reauthenticate', { token, body: { password } }],
    changePassword: ['POST', '/password', { token, body: { currentPassword: password, newPassword } }],
    changeEmail: ['POST', '/email', { token, body: { newEmail: email } }],
    changeEmailWithPassword: [
      'POST',
      '/email',
      { token, body: { newEmail: email, currentPassword: password } },
    ],
    sendConfirmation: ['POST', '/email/verification', { token }],
    deleteAccount: ['POST', '/me/delete', { token }],
    requestReset: ['POST', '/password/reset', { body: { email } }],
    resetPassword: ['POST', '/password/reset/confirm', { body: { token: code, newPassword } }],
    confirmEmail: ['POST', '/email/verify', { body: { token: code } }],
    lock: ['POST', `${admin}/lock`, { token: operator }],
    unlock: ['POST', `${admin}/unlock`, { token: operator }],
    endAllSessions: ['DELETE', `${admin}/sessions`, { token: operator }],
    sendReset: ['POST', `${admin}/password-reset`, { token: operator }],
  };
  return kind === 'wait'
    ? Promise.resolve({ status: 0, refresh: undefined, body: {} })
    : call(replica, ...requests[kind]);
};

/** Advances the clocks of the replicas, and moves the times in the database back. */
const wait = async (seconds: number): Promise<void> => {
  clockOffset += seconds;
  const { sql } = replicas[0].context.database;
  const interval = sql`make_interval(secs => ${seconds})`;
  await sql`update users set deletion_at = deletion_at - ${interval}`;
  await sql`
    update sessions set created_at = created_at - ${interval}, authenticated_at = authenticated_at - ${interval},
      rotated_at = rotated_at - ${interval}, expires_at = expires_at - ${interval}`;
  await sql`update mails set created_at = created_at - ${interval}, expires_at = expires_at - ${interval}`;
};

/** Reads the stored state in the form of `modelState`. */
const readState = async ({ emails }: Credentials) => {
  const { sql } = replicas[0].context.database;
  const users = await sql<
    {
      id: string;
      email: string;
      password: string;
      isVerified: boolean;
      isLocked: boolean;
      isLeaving: boolean;
    }[]
  >`
    select id, email, password_hash as password, email_verified_at is not null as "isVerified",
      locked_at is not null as "isLocked", deletion_at is not null as "isLeaving" from users`;
  const sessions = await sql<{ id: string; userId: string; isRecent: boolean }[]>`
    select id, user_id as "userId", authenticated_at > now() - interval '10 minutes' as "isRecent"
    from sessions where expires_at > now() order by id`;
  const codes = await sql<
    { owner: string; id: string; kind: string; recipient: string; sender: string | null; isOpen: boolean }[]
  >`
    select owner, id, kind, recipient, sender, state <> 'used' and expires_at > now() as "isOpen" from mails
    where kind in ('password_reset', 'email_verification', 'email_change') order by created_at, id`;
  return {
    users: users
      .map(({ id, email, ...user }) => ({
        address: emails.indexOf(email),
        ...user,
        sessions: sessions
          .filter(({ userId }) => userId === id)
          .map(({ id: sessionId, isRecent }) => [sessionId, isRecent]),
      }))
      .toSorted((a, b) => a.address - b.address),
    codes: codes.map(({ kind, recipient, sender, isOpen }) => ({
      kind,
      address: emails.indexOf(recipient),
      sender,
      isOpen,
    })),
    secrets: codes.map(
      ({ kind, owner, id }) =>
        replicas[0].context.mails?.codeAndPageOf({ kind, invitation: null } as never, { parentId: owner, id })
          .code ?? '',
    ),
  };
};

/** The state of a model in the form of `readState`. */
const modelState = (model: Model, { users, clients }: Credentials) => ({
  users: model.users
    .map(({ address, password, isVerified, isLocked, leavingAt }, index) => ({
      address,
      password: passwordOf(password),
      isVerified,
      isLocked,
      isLeaving: leavingAt !== Infinity,
      sessions: model.sessions
        .map(
          (session, n) =>
            [clients[n]?.sessionId ?? '', model.now < session.authenticatedAt + 600, session] as const,
        )
        .filter(([, , session]) => session.user === index && isLive(model, session))
        .map(([id, isRecent]) => [id, isRecent])
        .toSorted(([a], [b]) => (String(a) < String(b) ? -1 : 1)),
    }))
    .toSorted((a, b) => a.address - b.address),
  codes: model.codes.map(({ kind, address, user, sentAt, isVoid }) => ({
    kind,
    address,
    sender: users[user] ?? null,
    isOpen: !isVoid && model.now < sentAt + (kind === 'password_reset' ? 1800 : 86_400),
  })),
});

const sessionIdOf = (token = ''): string =>
  (JSON.parse(Buffer.from(token.split('.')[1] ?? 'e30', 'base64url').toString()) as { sid?: string }).sid ??
  '';

/** Adds the ids and credentials in a response. */
const addCredentials = (
  credentials: Credentials,
  { kind, session }: Operation,
  { status, body, refresh = '' }: Answer,
): Credentials => {
  const { accessToken: token = '', user } = body;
  const clients = [...credentials.clients];
  if (kind === 'register' || kind === 'login') {
    if (status < 400)
      clients.push({ sessionId: sessionIdOf(token), token, refresh, previousRefresh: refresh });
    const isNew = kind === 'register' && status === 201 && user !== undefined;
    return { ...credentials, clients, users: isNew ? [...credentials.users, user.id] : credentials.users };
  }
  const client = clients[session];
  if ((kind === 'refresh' || kind === 'refreshWithPrevious') && status === 200 && client !== undefined)
    clients[session] = {
      ...client,
      token,
      refresh,
      ...(kind === 'refresh' && { previousRefresh: client.refresh }),
    };
  return { ...credentials, clients };
};

/** Treats all 4xx alike: of two concurrent requests, the reason of a refusal depends on what the other has done. */
const mergeRefusals = (status: number): number => (status >= 400 && status < 500 ? 400 : status);

let histories = 0;
const runHistory = async (steps: readonly (readonly Draft[])[]): Promise<void> => {
  const { sql } = replicas[0].context.database;
  await sql`delete from mails`;
  await sql`delete from users`;
  histories++;
  clockOffset = 0;
  let credentials: Credentials = {
    emails: Array.from(
      { length: addressCount },
      (_, n) => `history-${process.pid}-${histories}-${n}@example.test`,
    ),
    users: [],
    clients: [],
    codes: [],
  };
  let model = startModel();
  const trace: unknown[] = [];
  for (const step of steps) {
    const operations = step
      .map((stepDraft) => operationOf(stepDraft, model))
      .filter(({ kind }) => kind !== 'wait' || step.length === 1);
    const [first] = operations;
    if (first?.kind === 'wait') await wait(first.seconds);
    const answers = await Promise.all(
      operations.map((operation, n) =>
        send(replicas[(n + trace.length) % 2] as Service, credentials, operation),
      ),
    );
    const { secrets, ...stored } = await readState(credentials);
    const orders =
      operations.length === 2
        ? [
            [0, 1],
            [1, 0],
          ]
        : [[0]];
    const outcomes = orders.map((order) => {
      const copy = structuredClone(model);
      let after = credentials;
      const statuses: number[] = [];
      for (const index of order.slice(0, operations.length)) {
        statuses[index] = apply(copy, operations[index] as Operation);
        after = addCredentials(after, operations[index] as Operation, answers[index] as Answer);
      }
      return { statuses, model: copy, credentials: { ...after, codes: secrets } };
    });
    const comparableStatus = (status: number) => (operations.length === 2 ? mergeRefusals(status) : status);
    const statuses = answers.map(({ status }) => comparableStatus(status));
    trace.push({
      operations: operations.map(({ kind, ...fields }) => `${kind} ${JSON.stringify(fields)}`),
      statuses: answers.map(({ status }) => status),
    });
    const matchingOutcome = outcomes.find((outcome) =>
      isDeepStrictEqual(
        {
          statuses: outcome.statuses.map(comparableStatus),
          ...modelState(outcome.model, outcome.credentials),
        },
        { statuses, ...stored },
      ),
    );
    if (matchingOutcome === undefined) {
      const [outcome] = outcomes;
      expect({ statuses, ...stored }, JSON.stringify(trace, null, 1)).toEqual(
        outcome && {
          statuses: outcome.statuses.map(comparableStatus),
          ...modelState(outcome.model, outcome.credentials),
        },
      );
      throw new Error('no order of the operations matches the model');
    }
    ({ model, credentials } = matchingOutcome);
  }
  for (const [n, { token }] of credentials.clients.entries()) {
    const status = apply(structuredClone(model), { kind: 'check', session: n } as Operation);
    for (const replica of replicas)
      expect((await call(replica, 'GET', '/check', { token })).status, JSON.stringify(trace)).toBe(status);
  }
};

/** Time after which no further histories are started, for CI; Infinity runs all 1,000. */
const sampleMs = 15_000;

test(
  'random histories of accounts at two replicas, with up to two simultaneous operations, have the results of the model',
  { timeout: 7_200_000 },
  async () => {
    const step = fc.oneof(fc.tuple(draft), fc.tuple(draft), fc.tuple(draft, draft));
    await fc.assert(fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 30 }), runHistory), {
      numRuns: 1000,
      interruptAfterTimeLimit: sampleMs,
      endOnFailure: true,
    });
  },
);
