import type { Route } from '@platform/service-kit/route';
import type { Context } from '../context.ts';
import { storeList } from '../stores/list.ts';
import { ImportJobView, MemberView, showImportJob, showMember } from './schema.ts';
import { pageOfImportJobs, pageOfMembers } from './use-cases.ts';

export const memberRoutes = (context: Context): Route[] => [
  storeList(context, {
    name: 'members',
    path: 'members',
    tag: 'Members',
    summary: 'The members, the last changed first',
    item: MemberView,
    page: pageOfMembers,
    show: showMember,
  }),
  storeList(context, {
    name: 'importJobs',
    path: 'import-jobs',
    tag: 'Members',
    summary: 'Members that become users, newest first',
    item: ImportJobView,
    page: pageOfImportJobs,
    show: showImportJob,
  }),
];
