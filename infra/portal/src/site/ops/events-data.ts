import type { ListPage } from './pages.ts';

/** A webhook in the list, as in the API of store-webhooks. */
export interface Event {
  /** Only in a list of all stores. */
  storeId?: string;
  id: string;
  event: string;
  service: string | null;
  entity: string | null;
  status: string;
  attempts: number;
  error: string | null;
  receivedAt: string;
  nextAttemptAt: string | null;
  finishedAt: string | null;
}

/** One webhook with its body and headers; unless `revealed`, without secrets and personal data. */
export interface EventDetail extends Event {
  headers: Record<string, string>;
  bytes: number;
  body: unknown;
  revealed: boolean;
  /** Addresses of the records that it changed, and of lists about the same entity. */
  links: { rel: string; href: string }[];
}

export interface EventPage {
  events: Event[];
  page: ListPage;
}

/** What a dry run would change. */
export interface Replay {
  changes?: { record: string; before: unknown; after: unknown }[];
  notifications?: string[];
  error?: string;
}

const looks: Record<string, 'good' | 'warn' | 'bad'> = {
  done: 'good',
  pending: 'warn',
  failed: 'bad',
  refused: 'bad',
};

/** The colour of a status. */
export const lookOf = ({ status, error }: Event): 'good' | 'warn' | 'bad' | 'plain' =>
  status === 'pending' && error === null ? 'plain' : (looks[status] ?? 'plain');
