/** When a key stops working. */
export interface Validity {
  /** ISO 8601. */
  expires_at: string | null;
  revoked_at: string | null;
}

export const isActive = ({ expires_at, revoked_at }: Validity, now: Date): boolean =>
  revoked_at === null && (expires_at === null || Date.parse(expires_at) > now.getTime());

/** When a key that is being replaced stops working: after the grace period, but no later than it expires. */
export const endOfGrace = ({ expires_at }: Validity, graceSeconds: number, now: Date): string => {
  const grace = new Date(now.getTime() + graceSeconds * 1000).toISOString();
  return expires_at !== null && expires_at < grace ? expires_at : grace;
};
