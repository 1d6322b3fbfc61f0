import { createServer, type Server } from 'node:http';
import { createRequestSignatures, readSignature } from '@platform/wallet-protocol/signing';
import { readBody } from '@platform/service-kit/body';
import { listen } from '@platform/service-kit/service';
import { onTestFinished } from 'vitest';
import { answerOf, refusal } from '../src/callbacks/use-cases.ts';
import { definitions } from '../src/callbacks/definitions.ts';
import { jsonOf, requestIdOf } from '@platform/wallet-protocol/body';
import { callbacks } from '@platform/wallet-protocol/callbacks';
import { decisionOf } from '../src/ledger/domain.ts';
import { secret } from './harness.ts';
import { createModel } from './model.ts';

/** An operator backend other than ours: correct, or with one flaw. */
const flaws = {
  none: decisionOf,
  paysARollbackTwice: (state, command, policy) =>
    command.operation === 'rollback'
      ? decisionOf({ ...state, known: undefined, targetReversed: false }, command, policy)
      : decisionOf(state, command, policy),
  takesALateDebit: (state, command, policy) =>
    state.known?.operation === 'tombstone' && command.operation === 'debit'
      ? decisionOf({ ...state, known: undefined }, command, policy)
      : decisionOf(state, command, policy),
  appliesADuplicateTwice: (state, command, policy) => {
    const decision = decisionOf(state, command, policy);
    const isRepeat = state.known !== undefined && decision.status === 'OK' && command.operation === 'debit';
    return isRepeat ? decisionOf({ ...state, known: undefined }, command, policy) : decision;
  },
} satisfies Record<string, typeof decisionOf>;

const createSmallBackend = (rules: typeof decisionOf): Server => {
  const player = { balance: 1_000_000n, currency: 'EUR', disabled: false, excluded: false };
  const model = createModel(
    new Map([['ada', player]]),
    new Set(['dice-alpha']),
    new Map(),
    {
      rollbackAfterClose: 'reverse',
      creditUnknownRound: 'accept',
      sessions: 'optional',
      transactionIds: 'global',
      limitStatus: 'ERROR_NOT_ENOUGH_MONEY',
      sessionBreakS: 1800,
      sessionTtlS: 3600,
      sessionMaxS: 43_200,
    },
    rules,
  );
  const signatures = createRequestSignatures({ secrets: { current: secret } });

  return createServer((req, res) => {
    const write = (status: number, json: string): void => void res.writeHead(status).end(json);
    const answer = async (): Promise<void> => {
      const body = await readBody(req, 100_000);
      const callback = callbacks.find((one) => req.url === `/callback/${one}`);
      if (callback === undefined || req.method !== 'POST') return write(404, '{}');
      if (body === undefined) return write(200, refusal('', 'ERROR_WRONG_SYNTAX'));
      const value = jsonOf(body);
      const requestId = requestIdOf(value);
      const { ok } = signatures.verify({ ...readSignature(req.headers), path: req.url ?? '', body });
      if (!ok) return write(401, refusal(requestId, 'ERROR_INVALID_SIGNATURE'));
      const command = definitions[callback].read(value);
      if ('wrongField' in command) return write(200, refusal(requestId, 'ERROR_WRONG_SYNTAX'));
      const { status, reason, balance } = model.apply(command);
      const outcome = { status, reason, balance: balance?.toString(), profile: undefined };
      write(200, answerOf(requestId, command, outcome));
    };
    answer().catch(() => res.destroy());
  });
};

/** Starts the small backend for one test, right or with one flaw; returns its address. */
export const startSmallBackend = async (flaw: keyof typeof flaws): Promise<string> => {
  const server = createSmallBackend(flaws[flaw]);
  const { port } = await listen(server, '127.0.0.1', 0);
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${port}`;
};
