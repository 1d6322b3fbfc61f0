import {
  endSessions,
  hasToken,
  userWithAddress,
  isNotErased,
  isLive,
  isRecent,
  isUsable,
  logIn,
  newUser,
  nobody,
  secure,
  send,
  type Code,
  type Model,
  type Session,
  type User,
} from './account-state.ts';

type Field = 'user' | 'session' | 'other' | 'code' | 'address' | 'password' | 'to' | 'seconds';

/** An operation; each kind uses only some of the fields. Users, sessions and codes are numbered from 0. */
export type Operation = Record<Field, number> & { kind: keyof typeof operations };
type Apply = (model: Model, operation: Operation) => number;

/** Requires a valid access token. */
const withToken =
  (apply: (model: Model, session: Session, operation: Operation, user: User) => number): Apply =>
  (model, operation) => {
    const session = model.sessions[operation.session];
    const user = model.users[session?.user ?? nobody];
    if (!session || !user || !hasToken(model, session)) return 401;
    return apply(model, session, operation, user);
  };
/** Requires a valid access token and the password. */
const withPassword = (apply: Parameters<typeof withToken>[0]): Apply =>
  withToken((model, session, operation, user) =>
    operation.password === user.password ? apply(model, session, operation, user) : 403,
  );
/** Requires an existing user, for the operations of operators. */
const withUser =
  (apply: (model: Model, user: User, userIndex: number) => number): Apply =>
  (model, { user: userIndex }) => {
    const user = model.users[userIndex];
    return user ? apply(model, user, userIndex) : 404;
  };
/** Requires a valid code of a mail; a successful operation uses it up. */
const withCode =
  (
    isReset: boolean,
    apply: (model: Model, user: User, userIndex: number, code: Code, to: number) => number,
  ): Apply =>
  (model, operation) => {
    const code = model.codes[operation.code];
    if (!code || (code.kind === 'password_reset') !== isReset || !isUsable(model, code)) return 404;
    const userIndex = code.user === nobody ? userWithAddress(model, code.address) : code.user;
    const user = model.users[userIndex];
    const status = user && isNotErased(model, user) ? apply(model, user, userIndex, code, operation.to) : 404;
    code.isVoid = status === 204;
    return status;
  };
/** Refreshes with the valid refresh token or, if `isPrevious`, the one before it, which works for 30 seconds. */
const refresh = (model: Model, session: Session | undefined, isPrevious: boolean): number => {
  if (!session || !isLive(model, session)) return 401;
  if (!isPrevious || session.exchangedAt === Infinity) session.exchangedAt = session.refreshedAt = model.now;
  session.hasEnded = model.now > session.exchangedAt + 30;
  session.signedAt = model.now;
  return session.hasEnded ? 401 : 200;
};

const operations = {
  register: (model, { address, password }) => {
    if (model.users.some((user) => user.address === address)) return 409;
    logIn(model, model.users.push(newUser(address, password)) - 1);
    return send(model, 'email_verification', address) - 1;
  },
  login: (model, { address, password }) => {
    const userIndex = userWithAddress(model, address);
    const user = model.users[userIndex];
    if (user?.password !== password) return 401;
    if (user.isLocked) return 403;
    user.leavingAt = Infinity;
    logIn(model, userIndex);
    return 200;
  },
  check: withToken(() => 200),
  refresh: (model, { session }) => refresh(model, model.sessions[session], false),
  refreshWithPrevious: (model, { session }) => refresh(model, model.sessions[session], true),
  logout: (model, operation) =>
    withToken((_, session) => ((session.hasEnded = true), 204))(model, operation) && 204,
  endSession: withToken((model, { user }, { other }) => {
    const ended = model.sessions[other];
    if (ended?.user !== user || !isLive(model, ended)) return 404;
    ended.hasEnded = true;
    return 204;
  }),
  endOtherSessions: withToken(({ sessions }, session) => endSessions(sessions, session.user, session)),
  reauthenticate: withPassword((model, session) => {
    session.authenticatedAt = model.now;
    return 204;
  }),
  changePassword: withPassword((model, session, { to }, user) => {
    user.password = to;
    session.authenticatedAt = model.now;
    return secure(model, session.user, session);
  }),
  changeEmail: withToken((model, session, { address }) =>
    isRecent(model, session) ? send(model, 'email_change', address, session.user) : 403,
  ),
  changeEmailWithPassword: withPassword((model, { user }, { address }) =>
    send(model, 'email_change', address, user),
  ),
  sendConfirmation: withToken((model, _session, _operation, { address }) =>
    send(model, 'email_verification', address),
  ),
  deleteAccount: withToken((model, session, _operation, user) => {
    if (!isRecent(model, session)) return 403;
    user.leavingAt = model.now;
    return secure(model, session.user) - 4;
  }),
  requestReset: (model, { address }) => send(model, 'password_reset', address),
  resetPassword: withCode(true, (model, user, userIndex, _code, to) => {
    Object.assign(user, { password: to, isVerified: true });
    return secure(model, userIndex);
  }),
  confirmEmail: withCode(false, (model, user, userIndex, code) => {
    if (model.users.some((other) => other !== user && other.address === code.address)) return 409;
    const isFirst = code.user === nobody && !user.isVerified;
    Object.assign(user, { address: code.address, isVerified: true });
    return isFirst ? secure(model, userIndex) : 204;
  }),
  lock: withUser((model, user, userIndex) => {
    user.isLocked = true;
    return secure(model, userIndex);
  }),
  unlock: withUser((_model, user) => {
    user.isLocked = false;
    return 204;
  }),
  endAllSessions: withUser(({ sessions }, _user, userIndex) => endSessions(sessions, userIndex)),
  sendReset: withUser((model, { address }) => send(model, 'password_reset', address) && 204),
  wait: (model, { seconds }) => {
    model.now += seconds;
    return 0;
  },
} satisfies Record<string, Apply>;

export const operationKinds = Object.keys(operations) as Operation['kind'][];

/** Applies an operation and returns the expected HTTP status. */
export const apply = (model: Model, operation: Operation): number =>
  operations[operation.kind](model, operation);
