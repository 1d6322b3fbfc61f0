import { anyone, route, type Route } from '@platform/service-kit/route';
import { z } from 'zod';
import type { Context } from '../context.ts';
import { quests } from '../db/tables.ts';

const Quest = z.object({ questId: z.uuid(), title: z.string() }).meta({ id: 'Quest' });

export const questRoutes = ({ database }: Context): Route[] => [
  route(
    {
      method: 'get',
      path: '/quests',
      operationId: 'listQuests',
      tag: 'Quests',
      summary: 'The quests',
      caller: anyone,
      query: z.strictObject({ limit: z.coerce.number().max(5).default(1) }),
      responses: { 200: { description: 'The quests', body: z.array(Quest) } },
    },
    async ({ query }) => ({ status: 200, body: await database.orm.select().from(quests).limit(query.limit) }),
  ),
];
