import { pageListJson, pageOf, slice } from '@platform/pagination/list';
import { record } from '@platform/service-kit/record';
import type { Route } from '@platform/service-kit/route';
import type { Context } from '../context.ts';
import {
  findSpareParts,
  findSparePartsAfter,
  findSparePartsById,
  insertSparePart,
  spareParts,
} from './queries.ts';
import {
  SparePart,
  SparePartInput,
  SparePartList,
  SparePartPatch,
  SparePartPath,
  SparePartQuery,
} from './schema.ts';

/** The routes that export spare parts and stream their changes. */
export const sparePartFeed = ({ follow, reader }: Context): Route[] =>
  follow({
    list: 'spare-parts',
    name: 'spare part',
    tag: 'Spare parts',
    auth: reader,
    item: SparePart,
    owners: () => undefined,
    rights: () => 'all',
    items: async (sql, ids) =>
      new Map((await findSparePartsById(sql, ids)).map(({ id, json }) => [id, json])),
    records: findSparePartsAfter,
  });

export const sparePartRoutes = ({ reader, writer, database: { sql } }: Context): Route[] =>
  record({
    path: '/spare-parts',
    basePath: '/v1',
    params: SparePartPath,
    tag: 'Spare parts',
    name: 'spare part',
    schema: SparePart,
    read: reader,
    write: writer,
    sql,
    list: {
      summary: 'Spare parts, newest first',
      query: SparePartQuery,
      body: SparePartList,
      page: async (query) => {
        const page = pageOf(query);
        return pageListJson('spareParts', page, slice(await findSpareParts(sql, page), page.limit));
      },
    },
    find: (on, { params: { sparePartId } }, lock) =>
      spareParts.find(on, { spare_part_id: sparePartId }, lock),
    create: {
      input: SparePartInput,
      example: { name: 'Mine' },
      insert: (on, { name }) => insertSparePart(on, name),
    },
    change: {
      patch: SparePartPatch,
      example: { name: 'Ours' },
      save: (on, patch, { params: { sparePartId } }) =>
        spareParts.update(on, { spare_part_id: sparePartId }, patch),
    },
    remove: {
      delete: (on, { params: { sparePartId } }) => spareParts.remove(on, { spare_part_id: sparePartId }),
    },
  });
