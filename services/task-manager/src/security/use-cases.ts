/** For what happens in other resources, in their transactions. */
export { recordEvent } from './queries.ts';
