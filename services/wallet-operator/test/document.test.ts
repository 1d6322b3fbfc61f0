import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';

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
