import { route, type Route } from '@platform/service-kit/route';
import { text } from '@platform/service-kit/text';
import { z } from 'zod';
import { allow } from '../access.ts';
import type { Context } from '../context.ts';
import { notificationKinds } from '../db/records.ts';
import { jobStages } from '../providers/records.ts';
import { StorePath } from '../stores/routes.ts';
import { knownStore } from '../stores/use-cases.ts';
import { mailOf } from './mailer.ts';
import { isWanted } from './notice.ts';
import { mailLanguages } from './texts/texts.ts';

const PreviewBody = z
  .strictObject({
    audience: z.enum(['customer', 'store']),
    kind: z.enum(notificationKinds),
    change: text(1, 100).meta({
      description:
        'The status of the order or verification, or the step of the delivery; for a member: created or changed',
    }),
    orderNo: text(1, 100).optional().meta({ description: 'The order number that customers know' }),
    language: z
      .enum(mailLanguages)
      .optional()
      .meta({ description: 'Language of the customer, if it is known' }),
  })
  .refine(({ audience, kind }) => audience === 'store' || kind === 'order' || kind === 'delivery', {
    path: ['audience'],
    message: 'customers get mails about orders and deliveries only',
  })
  .refine(({ audience, kind }) => audience === 'customer' || kind !== 'order', {
    path: ['audience'],
    message: 'mails about orders go to customers only',
  })
  .refine(({ kind, change }) => kind !== 'delivery' || (jobStages as readonly string[]).includes(change), {
    path: ['change'],
    message: `must be one of ${jobStages.join(', ')}`,
  });

const PreviewView = z
  .object({
    isWanted: z.boolean().meta({ description: 'Whether the store wants such mails' }),
    fromName: z.string().optional(),
    replyTo: z.string().optional(),
    subject: z.string(),
    text: z.string(),
  })
  .meta({ id: 'NotificationPreview' });

export const previewRoute = (context: Context): Route =>
  route(
    {
      method: 'post',
      path: '/v1/stores/{storeId}/notifications/preview',
      operationId: 'previewNotification',
      tag: 'Notifications',
      summary: 'Preview the mail of a change',
      auth: allow(context, 'stores:read'),
      params: StorePath,
      body: {
        schema: PreviewBody,
        example: { audience: 'customer', kind: 'order', change: 'READY', orderNo: '1002', language: 'de' },
      },
      responses: { 200: { description: 'The mail that would be sent', body: PreviewView } },
      problems: [404],
    },
    async ({ params, body: { language, orderNo = null, ...notice } }) => {
      const { name: storeName, settings } = await knownStore(context, params.storeId);
      const { notifications } = settings;
      const mail = mailOf({ ...notice, orderNo, storeName, settings: notifications }, language);
      return { status: 200, body: { isWanted: isWanted(notifications, notice), ...mail } };
    },
  );
