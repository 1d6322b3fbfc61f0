import { readFile } from 'node:fs/promises';
import { exercise } from '@platform/openapi-tests';
import { serve } from '@platform/service-kit/testing';
import { createStandIn } from '@platform/wallet-conformance/game-server/server';
import { expect, test } from 'vitest';
import { seal, startSealingService } from './evidence.ts';
import { keys, secret } from './harness.ts';
import { setUp } from './subject.ts';

const document = JSON.parse(await readFile(new URL('../openapi.json', import.meta.url), 'utf8'));
const schemaOf = (name: string) => document.components.schemas[name];

const text = 'string';
/**
 * The fields of each message, `?` behind optional ones. They and the statuses are given by the contract of game servers
 * (docs/contracts/wallet-operator.md), so they are written here again on purpose: a change of packages/wallet-protocol
 * that a game server would not understand fails.
 */
const requests = {
  Authenticate: { requestId: text, playerId: text, currency: text, gameCode: text },
  Debit: {
    requestId: text,
    playerId: text,
    transactionId: text,
    roundId: text,
    gameCode: text,
    amount: text,
    'metadata?': text,
  },
  Credit: {
    requestId: text,
    playerId: text,
    transactionId: text,
    roundId: text,
    roundClosed: 'boolean',
    gameId: text,
    amount: text,
    'metadata?': text,
  },
  Balance: { requestId: text, playerId: text },
  Rollback: {
    requestId: text,
    playerId: text,
    transactionId: text,
    reverseTransactionId: text,
    roundId: text,
    roundClosed: 'boolean',
    gameId: text,
    'metadata?': text,
  },
};

/** `name` or `name?` → type, as the document says it. */
const fieldsOf = (name: string): Record<string, unknown> => {
  const { properties, required } = schemaOf(name);
  return Object.fromEntries(
    Object.entries<{ type: string }>(properties).map(([field, { type }]) => [
      required.includes(field) ? field : `${field}?`,
      type,
    ]),
  );
};

test.each(Object.entries(requests))(
  'the document has the fields of the %s request, and none that must be sent beside them',
  (name, fields) => {
    const { 'sessionToken?': _ours, ...said } = fieldsOf(`${name}Request`);
    expect(said).toEqual(fields);
  },
);

test('payouts and reversals know no session', () => {
  for (const name of ['Credit', 'Rollback'])
    expect(Object.keys(schemaOf(`${name}Request`).properties)).not.toContain('sessionToken');
});

test('the document has the fields of the answers', () => {
  expect(fieldsOf('AuthenticateResponse')).toEqual({
    requestId: text,
    status: text,
    'balance?': text,
    'accountCurrency?': text,
    'name?': text,
    'countryCode?': text,
    'languageCode?': text,
    'birthDate?': text,
    'registrationDate?': text,
    'address?': text,
    'excluded?': 'boolean',
    'excludedUntil?': text,
  });
  expect(fieldsOf('MoneyResponse')).toEqual({
    requestId: text,
    status: text,
    'balance?': text,
    'customUserError?': text,
  });
});

test('the document has the statuses, and no others', () => {
  expect(schemaOf('MoneyResponse').properties.status.enum).toEqual([
    'OK',
    'ERROR_NOT_ENOUGH_MONEY',
    'ERROR_PLAYER_DISABLED',
    'ERROR_INVALID_SESSION',
    'ERROR_SESSION_EXPIRED',
    'ERROR_INVALID_GAME',
    'ERROR_WRONG_CURRENCY',
    'ERROR_DUPLICATE_TRANSACTION',
    'ERROR_TRANSACTION_DOES_NOT_EXIST',
    'ERROR_INVALID_SIGNATURE',
    'ERROR_WRONG_SYNTAX',
    'ERROR_UNKNOWN',
  ]);
});

test('the five callbacks are POST, at the addresses of the contract', () => {
  const callbacks = Object.entries(document.paths as Record<string, object>).filter(([path]) =>
    path.startsWith('/callback/'),
  );
  expect(callbacks.map(([path, methods]) => `${Object.keys(methods).join()} ${path}`)).toEqual([
    'post /callback/authenticate',
    'post /callback/debit',
    'post /callback/credit',
    'post /callback/balance',
    'post /callback/rollback',
  ]);
});

test('the guide has a table of the fields of all callbacks', async () => {
  const guide = await readFile(new URL('../../../docs/wallet-operator.md', import.meta.url), 'utf8');
  const section = guide.split('### Fields of the callbacks')[1]?.split('###')[0] ?? '';
  const rows = [...section.matchAll(/^\| `(\w+)` +\| ([^|]+?) +\|/gm)];
  const operations = ['authenticate', 'balance', 'credit', 'debit', 'rollback'];
  const described = rows.map(([, field, where]) => [
    field,
    where === 'all' ? operations : where?.split(', ').toSorted(),
  ]);
  const fieldsOf = (operation: string): string[] =>
    Object.keys(schemaOf(`${operation[0]?.toUpperCase()}${operation.slice(1)}Request`).properties);
  const fields = [...new Set(operations.flatMap(fieldsOf))];
  const documented = fields.map((field) => [
    field,
    operations.filter((operation) => fieldsOf(operation).includes(field)),
  ]);
  expect(Object.fromEntries(described)).toEqual(Object.fromEntries(documented));
});

test('every operation answers as the document says', async () => {
  let operatorUrl = '';
  await using gameServer = await serve((req, res) => {
    createStandIn({ operatorUrl, secret, operatorId: 'op-1' }).emit('request', req, res);
  });
  const settings = { GAME_SERVER_URL: gameServer.url, OPERATOR_ID: 'op-1', SIGNATURE_TOLERANCE_S: '3600' };
  await using service = await startSealingService(settings);
  operatorUrl = service.url;
  const { sql } = service.context.database;
  const scope = 'wallet:adjust wallet:admin wallet:approve wallet:read wallet:audit';
  const {
    paths = [],
    values: { roundId: _sealed, ...values } = {},
    ...subject
  } = await setUp({
    url: service.url,
    token: await keys.token({ scope }),
    hmacSecret: secret,
    waitFor: async (_, condition) => {
      await seal(sql);
      await expect.poll(condition).toBe(true);
    },
  });
  const [playerId = ''] = values['playerId'] ?? [];
  await sql`insert into adjustments (player_id, transaction_id, amount, reason, note, requested_by)
    values (${String(playerId)}, 'a-1', 1000000, 'bonus', 'for somebody else to approve', 'somebody')`;
  const faults = await exercise({
    url: service.url,
    ...subject,
    credentialsWithoutScope: { bearer: await keys.token({ scope: 'quests:read' }) },
    paths: [
      ...paths,
      `/v1/players/${String(playerId)}/adjustments/a-1`,
      `/v1/players/${String(playerId)}/adjustments/a-1/approval`,
    ],
    // Without the round: what is sent to it later is not sealed, so that it has no evidence any more.
    values: { ...values, playerId: [playerId] },
    takesAnything: ['authenticate', 'debit', 'credit', 'getBalance', 'rollback'],
    // Random periods are rarely valid, and come before the body; statement.test.ts sends both. The dry run has nothing
    // to apply, so it cannot be approved; repair-brake.test.ts approves others. The session ends when the player or the
    // game is disabled before; sessions.test.ts ends others.
    unreachable: [
      'createReconciliation success',
      'createReconciliation 415',
      'approveDryRun success',
      'deleteSession success',
    ],
  });
  expect(faults).toEqual([]);
});
