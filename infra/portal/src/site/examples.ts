import type { DemoCredentials } from './demo.ts';

/** Example values for the requests of a service. */
export interface Examples {
  /** For path parameters, by the segment before the parameter or by its name. */
  ids: Readonly<Record<string, string | undefined>>;
  /** Bodies, by method and path of the OpenAPI document. */
  bodies: Readonly<Record<string, unknown>>;
}

/** Ids of the demo data, the same after every start. */
const made = (kind: string, n = 1): string => `0198c5a0-7e57-7000-8${kind}00-${String(n).padStart(12, '0')}`;
const client = { clientId: made('a', 0), clientName: 'Van Dijk Flowers' };
const question = {
  type: 'OPEN_TEXT',
  presentation: 'VERTICAL',
  titles: [{ languageCode: 'en-US', title: 'What would you like?' }],
};
const order = {
  id: 'demo-order-1',
  orderNo: '1001',
  status: 'PENDING',
  consumerId: 'demo-member-1',
  cart: {
    total: 25,
    items: [{ productId: 'p-1', productName: 'Tea', quantity: 2, price: 12.5, totalPrice: 25 }],
  },
};

/** `once` is new each time the page opens, for emails and transaction ids, which can be used once. */
const tasks = (demo: DemoCredentials, once: string): Examples => ({
  ids: { tasks: '01900000-0000-7000-8000-00000000d000' },
  bodies: {
    'POST /auth/register': { email: `${once}@example.test`, password: 'correct horse battery', name: 'Ada' },
    'POST /auth/login': { email: demo.email, password: demo.password },
    'POST /tasks': { title: 'Water the plants', tags: ['home'], priority: 'high' },
    'PATCH /tasks/{id}': { status: 'done' },
  },
});

/** No example replaces all questions: sent by accident, it would leave no pages to try. */
const quests = ({ questId }: DemoCredentials): Examples => ({
  ids: { quests: questId, questions: 'hiking-1' },
  bodies: {
    'POST /quests': { title: 'Breakfast' },
    'PATCH /quests/{questId}': { title: 'Hiking' },
    'POST /quests/{questId}/questions': question,
    'PUT /quests/{questId}/questions/{questionId}': question,
  },
});

const webhooks = ({ store }: DemoCredentials): Examples => ({
  ids: { stores: store?.id, token: store?.webhookToken },
  bodies: {
    'POST /api/v1/hooks/order_updated/{token}': order,
    'POST /v1/stores/{id}/users': { consumerUserId: 'demo-member-1', email: 'member@example.test' },
    'POST /v1/stores/{id}/events/replay': {
      from: '2020-01-01T00:00:00.000Z',
      to: '2020-01-02T00:00:00.000Z',
    },
  },
});

const wallet = ({ playerId, gameCode }: DemoCredentials, once: string): Examples => {
  const request = { requestId: `request-${once}`, playerId };
  const bet = { ...request, transactionId: `bet-${once}`, roundId: `round-${once}` };
  return {
    ids: { players: playerId, games: gameCode, rounds: `round-${once}` },
    bodies: {
      'POST /callback/authenticate': { ...request, currency: 'EUR', gameCode },
      'POST /callback/balance': request,
      'POST /callback/debit': { ...bet, gameCode, amount: '1.00' },
      'POST /callback/credit': {
        ...bet,
        transactionId: `win-${once}`,
        roundClosed: true,
        gameId: gameCode,
        amount: '2.50',
      },
      'POST /callback/rollback': {
        ...bet,
        transactionId: `undo-${once}`,
        reverseTransactionId: bet.transactionId,
        roundClosed: true,
        gameId: gameCode,
      },
      'POST /v1/players': { playerId: `player-${once}`, currency: 'EUR', name: 'Ada' },
      'PATCH /v1/players/{playerId}': { name: 'Ada' },
      'POST /v1/players/{playerId}/deposits': { transactionId: `deposit-${once}`, amount: '10.00' },
      'POST /v1/players/{playerId}/withdrawals': { transactionId: `withdrawal-${once}`, amount: '5.00' },
      'POST /v1/games': { gameCode: `game-${once}`, name: 'A game of mine' },
      'PATCH /v1/games/{gameCode}': { enabled: true },
      'POST /v1/launches': { playerId, gameCode },
    },
  };
};

const projects = (): Examples => ({
  ids: { projects: made('0', 0), languages: 'gsw' },
  bodies: {
    'POST /projects': { name: 'Diplomas', source_language: 'en', target_languages: ['de', 'pt-BR'] },
    'PATCH /projects/{id}': { status: 'active' },
    'POST /projects/{id}/deliverables': { language: 'et', type: 'certificate', due_at: '2026-09-01' },
    'PUT /languages/{code}': { name: 'Swiss German', native_name: 'Schwiizertüütsch', direction: 'ltr' },
    'POST /api-keys': { name: 'my client', scopes: ['verify:read'] },
    'POST /api-keys/{id}/rotate': { grace_seconds: 3600 },
  },
});

const consignments = (_demo: DemoCredentials, once: string): Examples => ({
  ids: { consignments: made('d'), partners: made('a'), inventory: made('c'), warehouses: made('b') },
  bodies: {
    'POST /consignments': { consignmentNumber: `CN-${once}`, ...client },
    'POST /consignments/import': { consignmentNumber: `CN-LINE-${once}`, ...client },
    'PATCH /consignments/{id}': { reference: 'PO 4711' },
    'POST /partners': { code: `P-${once}`, name: 'A partner of mine', relationship: 0 },
    'PATCH /partners/{id}': { name: 'Van Dijk Flowers' },
    'POST /inventory': {
      partnerId: client.clientId,
      partnerProductId: `tulip-${once}`,
      productCode: 'TULIP',
      warehouseId: made('b', 0),
      quantity: 12,
    },
    'PATCH /inventory/{id}': { quantity: 12 },
    'POST /warehouses': { code: `W-${once}`, name: 'A warehouse of mine', city: 'Tartu', countryCode: 'EE' },
    'PATCH /warehouses/{id}': { city: 'Tartu' },
  },
});

/** What a demo stack has for each service, by the name of the service. */
export const examples: Readonly<Record<string, (demo: DemoCredentials, once: string) => Examples>> = {
  'task-manager': tasks,
  'quest-service': quests,
  'store-webhooks': webhooks,
  'wallet-operator': wallet,
  'verify-projects': projects,
  consignments,
};
