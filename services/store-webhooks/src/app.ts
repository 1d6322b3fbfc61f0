import { createHttpApp, type HttpApp } from '@platform/service-kit/app';
import { withinStores } from './access.ts';
import type { Context } from './context.ts';
import { fieldExamples } from './field-examples.ts';
import { deliveryJobList } from './records/delivery-jobs.ts';
import { importJobList } from './records/import-jobs.ts';
import { memberErasureRoute } from './records/member-erasure.ts';
import { memberList } from './records/members.ts';
import { orderList } from './records/orders.ts';
import { userList } from './records/users.ts';
import { verificationList } from './records/verifications.ts';
import { paymentList } from './payments/list.ts';
import { paymentRoutes } from './payments/routes.ts';
import { registerGauges } from './metrics.ts';
import { notificationList, resendRoute } from './notifications/notification-log.ts';
import { previewRoute } from './notifications/preview.ts';
import { eventRevealList } from './events/list.ts';
import { eventRoutes } from './events/routes.ts';
import { storeChangeList } from './records/store-changes.ts';
import { storeRoutes } from './stores/routes.ts';
import { hookRoutes } from './receive/routes.ts';
import { problemCodes } from './problem-codes.ts';

/** The lists of a store. */
export const storeLists = [
  orderList,
  memberList,
  importJobList,
  userList,
  deliveryJobList,
  verificationList,
  paymentList,
  notificationList,
  eventRevealList,
  storeChangeList,
];

const followedLists = [
  orderList,
  memberList,
  deliveryJobList,
  verificationList,
  paymentList,
  notificationList,
];

/** The routes of the service and the text of its OpenAPI document. */
export const createApp = (context: Context): HttpApp => {
  registerGauges(context);
  return createHttpApp(context, {
    api: {
      title: 'Store webhooks',
      version: '1.0.0',
      description:
        'Receives the webhooks of shops: stored durably before they are answered, processed afterwards.',
      tags: {
        Webhooks: 'Called by providers; the token in the path is the credential',
        Stores: 'Shops, their providers and tokens',
        Events: 'Received webhooks, their state, replay and recheck',
        Orders: 'Orders as the POS has them',
        Members: 'Members of the POS and their import',
        Users: 'Customers of the shop; the member of a deleted user stays, and may be imported again',
        Delivery: 'Delivery jobs',
        Identity: 'Identity verifications',
        Payments: '3DS transactions',
        Notifications: 'Notifications to customers and to the shop',
        Subscriptions: 'Changes that are sent to an address',
      },
      codes: problemCodes,
      basePath: '',
      examples: fieldExamples,
    },
    routes: [
      ...hookRoutes(context),
      ...[
        ...storeRoutes(context),
        resendRoute(context),
        previewRoute(context),
        memberErasureRoute(context),
        ...storeLists.flatMap(({ routes }) => routes(context)),
        ...paymentRoutes(context),
        ...eventRoutes(context),
      ].map(withinStores),
      ...followedLists.flatMap(({ followRoutes }) => followRoutes(context)),
      ...context.subscriptions.routes(),
    ],
    logPaths: false,
  });
};
