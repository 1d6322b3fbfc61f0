/** Records an action of a person, in the transaction that performs it. */
export { insertEvent as recordEvent } from './queries.ts';
/** The audit trail, or what of it matches a filter. */
export { listEvents } from './queries.ts';
