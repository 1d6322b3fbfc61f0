/** The purpose of a service and its callers. */
export interface Purpose {
  purpose: string;
  callers: string;
}

/** By the name of the service; others are shown with the description of their OpenAPI document. */
export const purposes: Readonly<Record<string, Purpose>> = {
  'task-manager': {
    purpose: 'Accounts, sessions and tasks. Signs the tokens of its users.',
    callers: 'Clients, with a login',
  },
  'quest-service': {
    purpose: 'Questionnaires of up to ten thousand questions; every page costs the same.',
    callers: 'Anybody to read, an access token to write',
  },
  'store-webhooks': {
    purpose:
      'Receives the webhooks of shops, couriers and payment providers, and never loses an acknowledged one.',
    callers: 'Providers, with the token in the address',
  },
  'wallet-operator': {
    purpose: 'Players’ balances on an append-only ledger, for the callbacks of a game server.',
    callers: 'Game servers, with a signature',
  },
  'verify-projects': {
    purpose: 'Verification projects, their languages and deliverables.',
    callers: 'Project clients, with an API key',
  },
  consignments: {
    purpose: 'Consignments, partners, inventory and warehouses, with exact totals on every page.',
    callers: 'Back offices, with an access token',
  },
};
