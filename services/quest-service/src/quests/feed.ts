import type { Caller } from '@platform/auth/bearer';
import type { Route } from '@platform/service-kit/route';
import type { Context } from '../context.ts';
import { findQuestsById } from './queries.ts';
import { Quest } from './schema.ts';

/** The route by which the list of quests is followed. A draft that is published is created for those who do not see drafts. */
export const questFeed = ({ follow, draftReader }: Context): Route =>
  follow<Caller | undefined>({
    list: 'quests',
    name: 'quest',
    tag: 'Quests',
    auth: draftReader,
    item: Quest,
    owners: (_asked, caller) => (caller === undefined ? ['everybody'] : ['everybody', 'editors']),
    items: (sql, ids, caller) => findQuestsById(sql, ids, caller !== undefined),
  });
