import { isDeepStrictEqual } from 'node:util';
import type { Passwords } from '@platform/auth/password';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { apply, kinds, type Operation } from './account-model.ts';
import { isLive, startModel, type Model } from './account-state.ts';
import { operatorKeys, startService } from './harness.ts';

/** Passwords that cost nothing: what is tested is when they are compared and set. */
const passwords: Passwords = {
  hash: (password) => Promise.resolve(password),
  verify: async (stored, password) => {
    const known = typeof stored === 'function' ? await stored() : stored;
    return { matches: known === password, rehash: false };
  },
};

/** Seconds by which the clocks of the replicas are ahead. */
let ahead = 0;
const replicaOptions = {
  variables: { SMTP_URL: 'smtp://127.0.0.1:1', TRUST_PROXY: 'loopback' },
  overrides: {
    loginPasswords: passwords,
    registrationPasswords: passwords,
    now: () => new Date(Date.now() + ahead * 1000),
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

const addresses = 3;
const waits = [40, 240, 660, 1000, 2000, 15 * 86_400, 31 * 86_400];

const draft = fc.record({
  kind: fc.constantFrom(
    ...kinds,
    ...([
      'register',
      'login',
      'login',
      'refresh',
      'refreshOld',
      'changePassword',
      'changeEmailByPassword',
    ] as const),
    ...(['reset', 'reset', 'confirm', 'confirm', 'forget', 'leave', 'wait'] as const),
  ),
  pick: fc.array(fc.nat(999), { minLength: 5, maxLength: 5 }),
  address: fc.nat(addresses - 1),
  password: fc.nat(2),
  to: fc.nat(2),
  knowsPassword: fc.integer({ min: 0, max: 4 }).map((n) => n > 0),
  seconds: fc.constantFrom(...waits, ...waits.slice(0, 3)),
});

type Draft = typeof draft extends fc.Arbitrary<infer T> ? T : never;

/** The operation of a draft: about users, sessions and codes of the model, mostly the newest, with the right password mostly. */
const operationOf = ({ pick, knowsPassword, ...rest }: Draft, model: Model): Operation => {
  const [user = 0, session = 0, other = 0, code = 0, recent = 0] = pick;
  const newest = (n: number, length: number) =>
    Math.max(0, length - 1 - (n % Math.min(length + 1, recent % 2 === 0 ? 2 : 8)));
  const named = {
    user: user % (model.users.length + 1),
    session: newest(session, model.sessions.length),
    other: newest(other, model.sessions.length),
    code: newest(code, model.codes.length),
  };
  const holder = ['login', 'register'].includes(rest.kind)
    ? model.users.find(({ address }) => address === rest.address)
    : model.users[model.sessions[named.session]?.user ?? -1];
  return { ...rest, ...named, password: knowsPassword ? (holder?.password ?? rest.password) : rest.password };
};

/** What a client keeps of a session. */
interface Client {
  sessionId: string;
  token: string;
  refresh: string;
  formerRefresh: string;
}

/** What the clients of a history know, in the order of the model. */
interface Known {
  emails: string[];
  users: string[];
  clients: Client[];
  codes: string[];
}

const passwordOf = (n: number): string => `a phrase of number ${n}`;
const nobody = '01900000-0000-7000-8000-000000000000';
let sent = 0;

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
  sent++;
  const answer = await fetch(`${replica.url}/api/v1/auth${path}`, {
    method,
    headers: {
      // A network of its own, so that failed logins make nobody wait.
      'X-Forwarded-For': `10.${(sent >> 16) & 255}.${(sent >> 8) & 255}.${sent & 255}`,
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
  { emails, users, clients, codes }: Known,
  operation: Operation,
): Promise<Answer> => {
  const { kind } = operation;
  const email = emails[operation.address];
  const password = passwordOf(operation.password);
  const newPassword = passwordOf(operation.to);
  const { token = 'none', refresh, formerRefresh } = clients[operation.session] ?? {};
  const code = codes[operation.code] ?? 'none';
  const admin = `/admin/users/${users[operation.user] ?? nobody}`;
  const requests: Record<
    Exclude<Operation['kind'], 'wait'>,
    [method: string, path: string, parts: Parameters<typeof call>[3]]
  > = {
    register: ['POST', '/register', { body: { email, password } }],
    login: ['POST', '/login', { body: { email, password } }],
    check: ['GET', '/check', { token }],
    refresh: ['POST', '/refresh', { cookie: refresh }],
    refreshOld: ['POST', '/refresh', { cookie: formerRefresh }],
    logout: ['GET', '/logout', { token }],
    end: ['DELETE', `/sessions/${clients[operation.other]?.sessionId ?? nobody}`, { token }],
    endOthers: ['DELETE', '/sessions', { token }],
    reauthenticate: ['POST', '/reauthenticate', { token, body: { password } }],
    changePassword: ['POST', '/password', { token, body: { currentPassword: password, newPassword } }],
    changeEmail: ['POST', '/email', { token, body: { newEmail: email } }],
    changeEmailByPassword: [
      'POST',
      '/email',
      { token, body: { newEmail: email, currentPassword: password } },
    ],
    sendConfirmation: ['POST', '/email/verification', { token }],
    leave: ['POST', '/me/delete', { token }],
    forget: ['POST', '/password/reset', { body: { email } }],
    reset: ['POST', '/password/reset/confirm', { body: { token: code, newPassword } }],
    confirm: ['POST', '/email/verify', { body: { token: code } }],
    lock: ['POST', `${admin}/lock`, { token: operator }],
    unlock: ['POST', `${admin}/unlock`, { token: operator }],
    endAll: ['DELETE', `${admin}/sessions`, { token: operator }],
    sendReset: ['POST', `${admin}/password-reset`, { token: operator }],
  };
  return kind === 'wait'
    ? Promise.resolve({ status: 0, refresh: undefined, body: {} })
    : call(replica, ...requests[kind]);
};

/** Lets time pass, for the replicas and in the database. */
const wait = async (seconds: number): Promise<void> => {
  ahead += seconds;
  const { sql } = replicas[0].context.database;
  const by = sql`make_interval(secs => ${seconds})`;
  await sql`update users set deletion_at = deletion_at - ${by}`;
  await sql`
    update sessions set created_at = created_at - ${by}, authenticated_at = authenticated_at - ${by},
      rotated_at = rotated_at - ${by}, expires_at = expires_at - ${by}`;
  await sql`update mails set created_at = created_at - ${by}, expires_at = expires_at - ${by}`;
};

/** What is stored, by the numbers of the model. */
const stateOf = async ({ emails }: Known) => {
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
        replicas[0].context.mails?.secretOf({ kind, invitation: null } as never, { owner, id }).code ?? '',
    ),
  };
};

/** The same of a model. */
const shown = (model: Model, { users, clients }: Known) => ({
  users: model.users
    .map(({ address, password, isVerified, isLocked, leavingAt }, at) => ({
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
        .filter(([, , session]) => session.user === at && isLive(model, session))
        .map(([id, isRecent]) => [id, isRecent])
        .toSorted(([a], [b]) => (String(a) < String(b) ? -1 : 1)),
    }))
    .toSorted((a, b) => a.address - b.address),
  codes: model.codes.map(({ kind, address, user, at, isOver }) => ({
    kind,
    address,
    sender: users[user] ?? null,
    isOpen: !isOver && model.now < at + (kind === 'password_reset' ? 1800 : 86_400),
  })),
});

const sessionIdOf = (token = ''): string =>
  (JSON.parse(Buffer.from(token.split('.')[1] ?? 'e30', 'base64url').toString()) as { sid?: string }).sid ??
  '';

/** What the clients know after an answer. */
const learn = (known: Known, { kind, session }: Operation, { status, body, refresh = '' }: Answer): Known => {
  const { accessToken: token = '', user } = body;
  const clients = [...known.clients];
  if (kind === 'register' || kind === 'login') {
    if (status < 400) clients.push({ sessionId: sessionIdOf(token), token, refresh, formerRefresh: refresh });
    const isNew = kind === 'register' && status === 201 && user !== undefined;
    return { ...known, clients, users: isNew ? [...known.users, user.id] : known.users };
  }
  const client = clients[session];
  if ((kind === 'refresh' || kind === 'refreshOld') && status === 200 && client !== undefined)
    clients[session] = {
      ...client,
      token,
      refresh,
      ...(kind === 'refresh' && { formerRefresh: client.refresh }),
    };
  return { ...known, clients };
};

/** A refusal is a refusal: of two requests at once one may be refused for what the other has ended, or for what it has changed. */
const coarse = (status: number): number => (status >= 400 && status < 500 ? 400 : status);

let histories = 0;
const run = async (steps: readonly (readonly Draft[])[]): Promise<void> => {
  const { sql } = replicas[0].context.database;
  await sql`delete from mails`;
  await sql`delete from users`;
  histories++;
  ahead = 0;
  let known: Known = {
    emails: Array.from(
      { length: addresses },
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
      .map((each) => operationOf(each, model))
      .filter(({ kind }) => kind !== 'wait' || step.length === 1);
    const [first] = operations;
    if (first?.kind === 'wait') await wait(first.seconds);
    const answers = await Promise.all(
      operations.map((each, n) => send(replicas[(n + trace.length) % 2] as Service, known, each)),
    );
    const { secrets, ...stored } = await stateOf(known);
    const orders =
      operations.length === 2
        ? [
            [0, 1],
            [1, 0],
          ]
        : [[0]];
    const outcomes = orders.map((order) => {
      const copy = structuredClone(model);
      let after = known;
      const statuses: number[] = [];
      for (const at of order.slice(0, operations.length)) {
        statuses[at] = apply(copy, operations[at] as Operation);
        after = learn(after, operations[at] as Operation, answers[at] as Answer);
      }
      return { statuses, model: copy, known: { ...after, codes: secrets } };
    });
    const asSent = (status: number) => (operations.length === 2 ? coarse(status) : status);
    const statuses = answers.map(({ status }) => asSent(status));
    trace.push({
      operations: operations.map(({ kind, ...rest }) => `${kind} ${JSON.stringify(rest)}`),
      statuses: answers.map(({ status }) => status),
    });
    const fitting = outcomes.find((outcome) =>
      isDeepStrictEqual(
        { statuses: outcome.statuses.map(asSent), ...shown(outcome.model, outcome.known) },
        { statuses, ...stored },
      ),
    );
    if (fitting === undefined) {
      const [outcome] = outcomes;
      expect({ statuses, ...stored }, JSON.stringify(trace, null, 1)).toEqual(
        outcome && { statuses: outcome.statuses.map(asSent), ...shown(outcome.model, outcome.known) },
      );
      throw new Error('the other order fits no better');
    }
    ({ model, known } = fitting);
  }
  for (const [n, { token }] of known.clients.entries()) {
    const status = apply(structuredClone(model), { kind: 'check', session: n } as Operation);
    for (const replica of replicas)
      expect((await call(replica, 'GET', '/check', { token })).status, JSON.stringify(trace)).toBe(status);
  }
};

/** As many of the 1,000 histories as CI has time for; Infinity runs all. */
const sampleMs = 15_000;

test(
  'random histories of an account at two replicas, one or two operations at a time, end as in a model',
  { timeout: 7_200_000 },
  async () => {
    const step = fc.oneof(fc.tuple(draft), fc.tuple(draft), fc.tuple(draft, draft));
    await fc.assert(fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 30 }), run), {
      numRuns: 1000,
      interruptAfterTimeLimit: sampleMs,
      endOnFailure: true,
    });
  },
);
