/** What a service is for, in more words than its document has, and who calls it how. */
export interface Purpose {
  purpose: string;
  callers: string;
}

/** By the name of the service; one that is not here is shown with the description of its document. */
export const purposes: Readonly<Record<string, Purpose>> = {
  'task-manager': {
    purpose: 'Accounts, sessions and what people have to do. Signs its own users’ tokens.',
    callers: 'Clients, with a login',
  },
  'quest-service': {
    purpose: 'Questionnaires of up to ten thousand questions, read in pages of a constant price.',
    callers: 'Anybody to read, an access token to write',
  },
  'store-webhooks': {
    purpose:
      'Takes what shops, couriers and payment providers send, and never loses what it has acknowledged.',
    callers: 'Providers, with the token in the address',
  },
  'wallet-operator': {
    purpose: 'Players’ money on a ledger that only grows, behind the callbacks of a game server.',
    callers: 'Game servers, with a signature',
  },
  'verify-projects': {
    purpose: 'Verification projects, their languages and what each has to deliver.',
    callers: 'Project clients, with an API key',
  },
  consignments: {
    purpose: 'Consignments, partners, inventory and warehouses, with totals that are exact at any depth.',
    callers: 'Back offices, with an access token',
  },
};
