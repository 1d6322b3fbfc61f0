import type { Caller } from '@platform/auth/bearer';
import type { FollowedList } from '@platform/feed';
import type { Route } from '@platform/service-kit/route';
import type { Context } from '../context.ts';
import { findQuestsAfter, findQuestsById, findSizes } from './queries.ts';
import { Quest } from './schema.ts';

/**
 * The routes that export and follow the list of quests and subscribe to it. For readers who do not see drafts, publishing a
 * draft creates the quest. Subscribers see drafts.
 */
export const questFeed = ({ follow, draftReader, exporter, subscriptions }: Context): Route[] => {
  const quests: FollowedList<Caller | undefined> = {
    list: 'quests',
    name: 'quest',
    tag: 'Quests',
    auth: draftReader,
    item: Quest,
    owners: (_filter, caller) => (caller === undefined ? ['everybody'] : ['everybody', 'editors']),
    rights: (caller) => (caller === undefined ? 'everybody' : 'editors'),
    records: (sql, slice) => findQuestsAfter(sql, slice, slice.owners?.includes('editors') === true),
    bytes: findSizes,
    items: (sql, ids, caller) => findQuestsById(sql, ids, caller !== undefined),
  };
  subscriptions.offer({ ...quests, auth: exporter });
  return [...follow(quests), ...subscriptions.routes()];
};
