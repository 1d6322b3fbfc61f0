import type { IncomingMessage } from 'node:http';
import type { Caller } from '@platform/auth/bearer';
import { networkOf } from '@platform/service-kit/network';
import type { Context } from '../context.ts';

/** Client of a request: its address, its network (an IPv4 address or an IPv6 /64), and its browser as text. */
export interface Client {
  address: string | undefined;
  network: string;
  browser: string;
}

type Names = readonly (readonly [substring: string, name: string])[];

/** Substrings of User-Agent. The first match counts, because browsers also name those that they are compatible with. */
const browsers: Names = [
  ['Edg', 'Edge'],
  ['OPR/', 'Opera'],
  ['SamsungBrowser', 'Samsung Internet'],
  ['Firefox', 'Firefox'],
  ['FxiOS', 'Firefox'],
  ['CriOS', 'Chrome'],
  ['Chrome', 'Chrome'],
  ['Safari', 'Safari'],
  ['curl', 'curl'],
];

const systems: Names = [
  ['Windows', 'Windows'],
  ['Android', 'Android'],
  ['iPhone', 'iOS'],
  ['iPad', 'iPadOS'],
  ['Mac OS X', 'macOS'],
  ['CrOS', 'ChromeOS'],
  ['Linux', 'Linux'],
];

const nameIn = (names: Names, agent: string): string | undefined =>
  names.find(([substring]) => agent.includes(substring))?.[1];

/**
 * Describes browser and operating system of a request, such as `Firefox on Windows`: enough for users to recognise their own,
 * without storing or showing text that the caller chose.
 */
export const browserOf = ({
  headers: { 'user-agent': agent = '' },
}: Pick<IncomingMessage, 'headers'>): string =>
  `${nameIn(browsers, agent) ?? 'Unknown browser'} on ${nameIn(systems, agent) ?? 'unknown system'}`;

export const clientOf = ({ clientAddress }: Pick<Context, 'clientAddress'>, req: IncomingMessage): Client => {
  const address = clientAddress(req);
  return { address, network: networkOf(address), browser: browserOf(req) };
};

/** A user with the session and the client of a request. */
export interface Actor extends Client {
  userId: string;
  sessionId: string;
}

export const actorOf = (
  context: Pick<Context, 'clientAddress'>,
  { caller, req }: { caller: Caller; req: IncomingMessage },
): Actor => ({ userId: caller.subject, sessionId: caller.sessionId ?? '', ...clientOf(context, req) });
