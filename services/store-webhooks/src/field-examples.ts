import { demoOrder } from './providers/pos-payloads.ts';
import { hookEventNames, pathTemplateOf } from './webhooks.ts';

const token = 'wht_Zm9yLXRoZS1kZW1vLXNob3A';
const address = 'https://api.example.test';

/** Examples for the OpenAPI document, by the name of the field or parameter; records are those of the demo data. */
export const fieldExamples = {
  ...Object.fromEntries(
    hookEventNames.map((event) => [
      event,
      address + pathTemplateOf(event).replace('{service}', 'persona').replace('{token}', token),
    ]),
  ),
  token,
  webhookToken: token,
  service: 'persona',
  userId: '01980000-0000-7000-8000-00000000d343',
  memberId: demoOrder.consumerId,
  'eraseMember.memberId': 'demo-member-2',
  'deleteSubscription.id': '0198c5a0-7e57-7f00-8000-000000000002',
  'deleteUser.userId': '01980000-0000-7000-8000-00000000d345',
  orderId: 'demo-order-2',
  jobId: 'demo-job-1',
  transactionId: 'demo-check-1',
  threeDSServerTransId: 'demo-challenge-1',
  payload: JSON.stringify(demoOrder),
  cres: 'eyJ0aHJlZURTU2VydmVyVHJhbnNJRCI6InRkcy0xIn0',
  CRes: 'eyJ0aHJlZURTU2VydmVyVHJhbnNJRCI6InRkcy0xIn0',
  threeDSSessionData: 'demo-payment-1',
  currency: 'EUR',
  baseUrl: 'https://pos.example.test/',
  mapping: '/data/id',
  credentials: ['apiKey'],
  credentialNames: ['apiKey'],
  clearedCredentials: ['pos.apiKey'],
  orderStatuses: ['COMPLETED'],
  fromName: 'Demo shop',
  allowedAddresses: ['192.0.2.0/24'],
  subject: 'Your order 1000 is complete',
  replyTo: 'shop@example.test',
  text: 'Hello Ann,\n\nyour order 1000 is complete.',
  changedBy: 'demo-admin',
  revealedBy: 'demo-admin',
  dismissedBy: 'demo-admin',
  requestId: '0198c2a4-7c1e-7d3a-9f21-5b8e4c6d7a90',
  record: 'order',
  notifications: ['order_status'],
  error: 'id: Required',
  event: 'order_updated',
  headers: 'application/json',
  href: '/v1/stores/01980000-0000-7000-8000-00000000d340/orders/demo-order-2',
};
