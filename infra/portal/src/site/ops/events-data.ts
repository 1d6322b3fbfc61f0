import type { Webhooks } from './api.ts';

const looks: Partial<Record<Webhooks['Event']['status'], 'good' | 'warn' | 'bad'>> = {
  done: 'good',
  pending: 'warn',
  failed: 'bad',
  refused: 'bad',
};

/** The colour of a status. */
export const lookOf = ({ status, error }: Webhooks['Event']): 'good' | 'warn' | 'bad' | 'plain' =>
  status === 'pending' && error === null ? 'plain' : (looks[status] ?? 'plain');
