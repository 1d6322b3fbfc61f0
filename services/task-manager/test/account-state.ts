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
  /** When the access token was signed, and when the refresh token was last exchanged. */
  signedAt: now,
  exchangedAt: Infinity,
  hasEnded: false,
});
export type CodeKind = 'password_reset' | 'email_verification' | 'email_change';
/** The code of a mail to an address. `user` is the user who wants to change to this address, otherwise `nobody`. */
const newCode = (kind: CodeKind, address: number, user: number, now: number) => ({
  kind,
  address,
  user,
  sentAt: now,
  isVoid: false,
});

export type User = ReturnType<typeof newUser>;
export type Session = ReturnType<typeof newSession>;
export type Code = ReturnType<typeof newCode>;

/** The rules for accounts in docs/task-manager.md, implemented without SQL. Times are in seconds. */
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
/** An access token is valid for 15 minutes and another minute by which the clocks of replicas may differ. */
export const hasToken = (model: Model, session: Session): boolean =>
  isLive(model, session) && model.now < session.signedAt + 16 * minute;
export const isRecent = ({ now }: Model, session: Session): boolean =>
  now < session.authenticatedAt + 10 * minute;
/** After 14 days an account is treated as erased, but its address stays taken until the erasure. */
export const isNotErased = ({ now }: Model, user: User): boolean => now < user.leavingAt + 14 * day;
export const userWithAddress = (model: Model, address: number): number =>
  model.users.findIndex((user) => user.address === address && isNotErased(model, user));
/** Whether a code is neither used, void or expired nor replaced by a newer one. */
export const isUsable = ({ now, codes }: Model, code: Code): boolean => {
  const { kind, user, address, sentAt } = code;
  const isForSamePurpose = (other: Code) =>
    other.kind === kind && other.user === user && (user !== nobody || other.address === address);
  return (
    !code.isVoid &&
    now < sentAt + (kind === 'password_reset' ? minute * 30 : day) &&
    codes.findLast(isForSamePurpose) === code
  );
};

export const logIn = ({ sessions, now }: Model, user: number): number => sessions.push(newSession(user, now));
/** Sends a code, but none within three minutes of an unused one unless it is for a change of the address. */
export const send = ({ now, codes }: Model, kind: CodeKind, address: number, user = nobody): number => {
  const isUnused = (code: Code) =>
    code.kind === kind && code.address === address && !code.isVoid && now < code.sentAt + 3 * minute;
  if (user !== nobody || !codes.some(isUnused)) codes.push(newCode(kind, address, user, now));
  return 202;
};
/** Voids requested changes of the address, and ends all sessions of a user except one. */
export const secure = ({ codes, sessions }: Model, user: number, except?: Session): number => {
  for (const code of codes) if (code.user === user) code.isVoid = true;
  return endSessions(sessions, user, except);
};
export const endSessions = (sessions: Session[], user: number, except?: Session): number => {
  for (const session of sessions) if (session.user === user && session !== except) session.hasEnded = true;
  return 204;
};

export const startModel = (): Model => ({ now: 0, users: [], sessions: [], codes: [] });
