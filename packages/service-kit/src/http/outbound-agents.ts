import { constants } from 'node:crypto';
import { Agent as HttpAgent, request as httpRequest } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest, type RequestOptions } from 'node:https';
import { connect, type NetConnectOpts, type Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { createFairPlaces } from '../overload/fair-places.ts';
import { createLru } from '../process/lru.ts';
import { SafeError } from '../process/safe-error.ts';

/** The response is larger than 1 MiB, or comes in too many pieces. */
export class AnswerTooLarge extends SafeError {
  constructor() {
    super('The answer is too large.');
  }
}

/** Maximum number of idle connections to all hosts together, because others decide how many hosts we call. */
const maxIdleSockets = 256;
/**
 * Bytes that are read and parsed at once. By default 64 KiB are: parsing them takes up to 30 ms if they are informational
 * responses or chunks of one byte, and a limit ends the response only afterwards.
 */
const readBytes = 1024;
const agentOptions = {
  keepAlive: true,
  timeout: 15_000,
  onread: {
    buffer: () => Buffer.allocUnsafeSlow(readBytes),
    callback(this: Socket, length: number, buffer: Uint8Array): boolean {
      // False stops reading until the consumer wants more.
      return this.push(buffer.subarray(0, length));
    },
  },
};

/**
 * What a server may ask of a TLS handshake. Without limits it chooses the size of the key exchange, which takes half a second of
 * processor time with DHE and 8,192 bits, and may repeat the handshake on one connection (TLS 1.2).
 */
const tlsOptions = {
  minVersion: 'TLSv1.2',
  ciphers:
    'TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256:TLS_AES_128_GCM_SHA256:ECDHE+AESGCM:ECDHE+CHACHA20:ECDHE+AES',
  ecdhCurve: 'X25519:P-256:P-384',
  secureOptions: constants.SSL_OP_NO_RENEGOTIATION,
} as const;

/** Options of a request that the agent gets too. */
interface HandshakeOptions extends RequestOptions {
  subject?: string;
  onCostly?: () => void;
}

/** Maximum number of concurrent TLS handshakes of one subject; half of them with one host. */
const maxHandshakes = 8;
/** Maximum bytes that a server sends in a TLS handshake; certificates are 3 to 8 KB. */
const maxHandshakeBytes = 16_384;

/**
 * Wraps a connection, so that what the server sends can be refused before OpenSSL sees it: it checks the signatures of all
 * certificates, also of those that lead nowhere.
 */
const createHandshakeStream = (tcp: Socket) => {
  let isSecure = false;
  const stream = new Duplex({
    read: () => void tcp.resume(),
    write: (chunk, _, done) => void tcp.write(chunk as Buffer, done),
    final: (done) => void tcp.end(done),
    destroy: (error, done) => {
      tcp.destroy();
      done(error);
    },
  });
  tcp
    .on('data', (chunk) => {
      if (!isSecure && tcp.bytesRead > maxHandshakeBytes) stream.destroy(new AnswerTooLarge());
      else if (!stream.push(chunk)) tcp.pause();
    })
    .on('end', () => stream.push(null))
    .on('error', (error) => stream.destroy(error))
    .on('close', () => stream.destroy());
  return { stream, allowMore: () => void (isSecure = true) };
};

/** Limits TLS handshakes, and reports those that fail after the server has sent something: they may have been costly. */
class LimitedAgent extends HttpsAgent {
  readonly #handshakes = createLru<string, ReturnType<typeof createFairPlaces>>(10_000, 0, () =>
    createFairPlaces(maxHandshakes),
  );

  override createConnection(
    options: HandshakeOptions,
    callback?: (error: Error | null, socket: Duplex) => void,
  ): undefined {
    const { subject, host } = options;
    const connectNow = (done: () => void): void => {
      const tcp = connect(options as NetConnectOpts);
      const { stream, allowMore } = createHandshakeStream(tcp);
      const socket = super.createConnection({ ...options, socket: stream } as RequestOptions) as Duplex;
      const fail = (): void => {
        if (tcp.bytesRead > 0) options.onCostly?.();
        done();
      };
      stream.on('error', (error) => socket.destroy(error));
      socket.once('error', fail).once('close', fail);
      socket.once('secureConnect', () => {
        socket.off('error', fail).off('close', fail);
        allowMore();
        done();
      });
      callback?.(null, socket);
    };
    const handshake = () => new Promise<void>(connectNow);
    void (subject === undefined ? handshake() : this.#handshakes.memo(subject)(host ?? '', handshake));
  }
}

const boundIdleSockets = <Agent extends HttpAgent>(agent: Agent): Agent =>
  agent.on('free', (socket: Socket) => {
    const idle = Object.values(agent.freeSockets).reduce((sum, sockets) => sum + (sockets?.length ?? 0), 0);
    if (idle > maxIdleSockets) socket.destroy();
  });

/** By the protocol of a URL. */
export const transports = {
  'http:': { request: httpRequest, agent: boundIdleSockets(new HttpAgent(agentOptions)) },
  'https:': {
    request: httpsRequest,
    agent: boundIdleSockets(new LimitedAgent({ ...agentOptions, ...tlsOptions })),
  },
};
