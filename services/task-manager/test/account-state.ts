export const newUser = (address: number, password: number) => ({
  address,
  password,
  isVerified: false,
  isLocked: false,
  leavingAt: Infinity,
});
const newSession = (user: number, now: number) => ({
  user,
  startedAt: now,
  refreshedAt: now,
  authenticatedAt: now,
  /** When its access token was signed, and when its refresh token was last exchanged. */
  signedAt: now,
  exchangedAt: Infinity,
  hasEnded: false,
});
export type CodeKind = 'password_reset' | 'email_verification' | 'email_change';
/** What the code of a mail is for: an address, or one that a user wants to change to. */
const newCode = (kind: CodeKind, address: number, user: number, now: number) => ({
  kind,
  address,
  user,
  at: now,
  isOver: false,
});

export type User = ReturnType<typeof newUser>;
export type Session = ReturnType<typeof newSession>;
export type Code = ReturnType<typeof newCode>;

/** What docs/task-manager.md says of accounts, without SQL. Times are in seconds. */
export interface Model {
  now: number;
  users: User[];
  sessions: Session[];
  codes: Code[];
}

const minute = 60;
const day = 86_400;
export const nobody = -1;

export const isLive = ({ now }: Model, { hasEnded, refreshedAt, startedAt }: Session): boolean =>
  !hasEnded && now < refreshedAt + 30 * day && now < startedAt + 90 * day;
/** An access token lasts a minute more than 15, because the clocks of replicas may differ by it. */
export const hasToken = (model: Model, session: Session): boolean =>
  isLive(model, session) && model.now < session.signedAt + 16 * minute;
export const isRecent = ({ now }: Model, session: Session): boolean =>
  now < session.authenticatedAt + 10 * minute;
/** After 14 days an account is as if it were erased, but its address is taken until it is. */
export const isKept = ({ now }: Model, user: User): boolean => now < user.leavingAt + 14 * day;
export const holderOf = (model: Model, address: number): number =>
  model.users.findIndex((user) => user.address === address && isKept(model, user));
/** Not used, ended, too old, or replaced by a newer one. */
export const isUsable = ({ now, codes }: Model, code: Code): boolean => {
  const { kind, user, address, at } = code;
  const isSame = (each: Code) =>
    each.kind === kind && each.user === user && (user !== nobody || each.address === address);
  return (
    !code.isOver &&
    now < at + (kind === 'password_reset' ? minute * 30 : day) &&
    codes.findLast(isSame) === code
  );
};

export const logIn = ({ sessions, now }: Model, user: number): number => sessions.push(newSession(user, now));
/** No code is sent within three minutes of one that is not used, unless it changes an address. */
export const send = ({ now, codes }: Model, kind: CodeKind, address: number, user = nobody): number => {
  const isUnused = (code: Code) =>
    code.kind === kind && code.address === address && !code.isOver && now < code.at + 3 * minute;
  if (user !== nobody || !codes.some(isUnused)) codes.push(newCode(kind, address, user, now));
  return 202;
};
/** Ends changes of an address, and sessions but this one. */
export const secure = ({ codes, sessions }: Model, user: number, but?: Session): number => {
  for (const code of codes) if (code.user === user) code.isOver = true;
  return endSessions(sessions, user, but);
};
export const endSessions = (sessions: Session[], user: number, but?: Session): number => {
  for (const session of sessions) if (session.user === user && session !== but) session.hasEnded = true;
  return 204;
};

export const startModel = (): Model => ({ now: 0, users: [], sessions: [], codes: [] });
