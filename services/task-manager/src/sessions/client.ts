import type { IncomingMessage } from 'node:http';
import type { Caller } from '@platform/auth/bearer';
import { networkOf } from '@platform/service-kit/network';
import type { Context } from '../context.ts';

/** Who sends a request: the client's address, its network (an IPv4 address or an IPv6 /64), and its browser in words. */
export interface Client {
  address: string | undefined;
  network: string;
  browser: string;
}

type Names = readonly (readonly [sign: string, name: string])[];

/** The first that matches counts: browsers name those that they are compatible with, too. */
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
  names.find(([sign]) => agent.includes(sign))?.[1];

/**
 * The browser and the system of a request in words, such as `Firefox on Windows`: enough to recognise one's own, and no
 * text of the caller's choice is stored or shown.
 */
export const browserOf = ({
  headers: { 'user-agent': agent = '' },
}: Pick<IncomingMessage, 'headers'>): string =>
  `${nameIn(browsers, agent) ?? 'Unknown browser'} on ${nameIn(systems, agent) ?? 'unknown system'}`;

export const clientOf = ({ clientAddress }: Pick<Context, 'clientAddress'>, req: IncomingMessage): Client => {
  const address = clientAddress(req);
  return { address, network: networkOf(address), browser: browserOf(req) };
};

/** A user who sends a request in a session, and from where. */
export interface Actor extends Client {
  userId: string;
  sessionId: string;
}

export const actorOf = (
  context: Pick<Context, 'clientAddress'>,
  { caller, req }: { caller: Caller; req: IncomingMessage },
): Actor => ({ userId: caller.subject, sessionId: caller.sessionId ?? '', ...clientOf(context, req) });
