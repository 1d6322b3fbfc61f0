/** The refused callbacks that match a filter. */
export { listRefusals } from './queries.ts';
