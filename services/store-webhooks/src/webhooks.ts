/** The ten events of docs/contracts/store-webhooks.md. `service`: the path contains the provider. */
export const hookEvents = {
  order_updated: { service: false, summary: 'An order changed at the POS' },
  new_member: { service: false, summary: 'A member was created at the POS' },
  member_updated: { service: false, summary: 'A member changed at the POS' },
  job_assigned: { service: false, summary: 'A driver got the delivery' },
  job_started: { service: false, summary: 'The driver picked the delivery up' },
  job_arrived: { service: false, summary: 'The driver arrived at the address' },
  job_completed: { service: false, summary: 'The delivery was completed' },
  'identity-verification-updated': { service: true, summary: 'The state of a verification changed' },
  'identity-verification-completed': { service: true, summary: 'A verification was completed' },
  'payment-auth-completed': { service: true, summary: 'A 3DS challenge was completed' },
} as const satisfies Record<string, { service: boolean; summary: string }>;

export type HookEvent = keyof typeof hookEvents;

export const hookEventNames = Object.keys(hookEvents) as HookEvent[];

/** `order_updated` → `OrderUpdated`. */
export const pascalCase = (event: HookEvent): string =>
  event.replaceAll(/(?:^|[-_])(\w)/g, (_, first: string) => first.toUpperCase());

export const hooksPath = '/api/v1/hooks';

/** The path template of an event's address in logs, metrics and the OpenAPI document. */
export const pathTemplateOf = (event: HookEvent): string =>
  `${hooksPath}/${event}/${hookEvents[event].service ? '{service}/' : ''}{token}`;
