import {
  endSessions,
  hasToken,
  holderOf,
  isKept,
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

/** One operation; it uses those of the numbers that it needs. Users, sessions and codes count from 0 on. */
export type Operation = Record<Field, number> & { kind: keyof typeof operations };
type Apply = (model: Model, operation: Operation) => number;

/** With a valid access token. */
const as =
  (apply: (model: Model, session: Session, operation: Operation, user: User) => number): Apply =>
  (model, operation) => {
    const session = model.sessions[operation.session];
    const user = model.users[session?.user ?? nobody];
    if (!session || !user || !hasToken(model, session)) return 401;
    return apply(model, session, operation, user);
  };
/** With the password, too. */
const byPassword = (apply: Parameters<typeof as>[0]): Apply =>
  as((model, session, operation, user) =>
    operation.password === user.password ? apply(model, session, operation, user) : 403,
  );
const ofUser =
  (apply: (model: Model, user: User, at: number) => number): Apply =>
  (model, { user: at }) => {
    const user = model.users[at];
    return user ? apply(model, user, at) : 404;
  };
/** With a code of a mail, which is used up unless it is refused. */
const byCode =
  (
    isReset: boolean,
    apply: (model: Model, user: User, at: number, code: Code, to: number) => number,
  ): Apply =>
  (model, operation) => {
    const code = model.codes[operation.code];
    if (!code || (code.kind === 'password_reset') !== isReset || !isUsable(model, code)) return 404;
    const at = code.user === nobody ? holderOf(model, code.address) : code.user;
    const user = model.users[at];
    const status = user && isKept(model, user) ? apply(model, user, at, code, operation.to) : 404;
    code.isOver = status === 204;
    return status;
  };
/** With the valid refresh token or the one before it, which works for 30 seconds. */
const refresh = (model: Model, session: Session | undefined, isOld: boolean): number => {
  if (!session || !isLive(model, session)) return 401;
  if (!isOld || session.exchangedAt === Infinity) session.exchangedAt = session.refreshedAt = model.now;
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
    const at = holderOf(model, address);
    const user = model.users[at];
    if (user?.password !== password) return 401;
    if (user.isLocked) return 403;
    user.leavingAt = Infinity;
    logIn(model, at);
    return 200;
  },
  check: as(() => 200),
  refresh: (model, { session }) => refresh(model, model.sessions[session], false),
  refreshOld: (model, { session }) => refresh(model, model.sessions[session], true),
  logout: (model, operation) => as((_, session) => ((session.hasEnded = true), 204))(model, operation) && 204,
  end: as((model, { user }, { other }) => {
    const ended = model.sessions[other];
    if (ended?.user !== user || !isLive(model, ended)) return 404;
    ended.hasEnded = true;
    return 204;
  }),
  endOthers: as(({ sessions }, session) => endSessions(sessions, session.user, session)),
  reauthenticate: byPassword((model, session) => {
    session.authenticatedAt = model.now;
    return 204;
  }),
  changePassword: byPassword((model, session, { to }, user) => {
    user.password = to;
    session.authenticatedAt = model.now;
    return secure(model, session.user, session);
  }),
  changeEmail: as((model, session, { address }) =>
    isRecent(model, session) ? send(model, 'email_change', address, session.user) : 403,
  ),
  changeEmailByPassword: byPassword((model, { user }, { address }) =>
    send(model, 'email_change', address, user),
  ),
  sendConfirmation: as((model, _session, _operation, { address }) =>
    send(model, 'email_verification', address),
  ),
  leave: as((model, session, _operation, user) => {
    if (!isRecent(model, session)) return 403;
    user.leavingAt = model.now;
    return secure(model, session.user) - 4;
  }),
  forget: (model, { address }) => send(model, 'password_reset', address),
  reset: byCode(true, (model, user, at, _code, to) => {
    Object.assign(user, { password: to, isVerified: true });
    return secure(model, at);
  }),
  confirm: byCode(false, (model, user, at, code) => {
    if (model.users.some((other) => other !== user && other.address === code.address)) return 409;
    const isFirst = code.user === nobody && !user.isVerified;
    Object.assign(user, { address: code.address, isVerified: true });
    return isFirst ? secure(model, at) : 204;
  }),
  lock: ofUser((model, user, at) => {
    user.isLocked = true;
    return secure(model, at);
  }),
  unlock: ofUser((_model, user) => {
    user.isLocked = false;
    return 204;
  }),
  endAll: ofUser(({ sessions }, _user, at) => endSessions(sessions, at)),
  sendReset: ofUser((model, { address }) => send(model, 'password_reset', address) && 204),
  wait: (model, { seconds }) => {
    model.now += seconds;
    return 0;
  },
} satisfies Record<string, Apply>;

export const kinds = Object.keys(operations) as Operation['kind'][];

/** Applies an operation, and returns the status of its answer. */
export const apply = (model: Model, operation: Operation): number =>
  operations[operation.kind](model, operation);
