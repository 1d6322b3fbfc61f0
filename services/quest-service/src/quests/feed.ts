import type { Caller } from '@platform/auth/bearer';
import type { FollowedList } from '@platform/feed';
import type { Route } from '@platform/service-kit/route';
import type { Context } from '../context.ts';
import { findQuestsAfter, findQuestsById, findSizes } from './queries.ts';
import { Quest } from './schema.ts';

/**
 * The routes by which the list of quests is exported, followed and subscribed to. A draft that is published is created for
 * those who do not see drafts; subscribers see them.
 */
export const questFeed = ({ follow, draftReader, exporter, subscriptions }: Context): Route[] => {
  const quests: FollowedList<Caller | undefined> = {
    list: 'quests',
    name: 'quest',
    tag: 'Quests',
    auth: draftReader,
    item: Quest,
    owners: (_asked, caller) => (caller === undefined ? ['everybody'] : ['everybody', 'editors']),
    rights: (caller) => (caller === undefined ? 'everybody' : 'editors'),
    records: (sql, slice) => findQuestsAfter(sql, slice, slice.owners?.includes('editors') === true),
    bytes: findSizes,
    items: (sql, ids, caller) => findQuestsById(sql, ids, caller !== undefined),
  };
  subscriptions.offer({ ...quests, auth: exporter });
  return [...follow(quests), ...subscriptions.routes()];
};
