import { hash } from 'node:crypto';

/** Session tokens are kept and looked up by their hash alone. Fast on purpose: they have 256 random bits. */
export const sessionHash = (token: string): string => hash('sha256', token);
