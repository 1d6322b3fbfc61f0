import { pageLimitBody, pageLimitQuery } from '@platform/pagination/page-limit';
import { instant, text } from '@platform/service-kit/text';
import { z } from 'zod';

export const WidgetPath = z.strictObject({
  widgetId: z
    .guid('must be a UUID')
    .toLowerCase()
    .meta({ description: 'Identifier of the widget', example: '0198c5a0-7e57-7000-8000-000000000001' }),
});

export const WidgetQuery = z.strictObject(pageLimitQuery);

export const WidgetInput = z.strictObject({ name: text(1, 200) }).meta({ id: 'WidgetInput' });

export const Widget = z
  .object({ widgetId: z.guid(), name: z.string(), createdAt: instant() })
  .meta({ id: 'Widget' });

export const WidgetList = pageLimitBody('widgets', Widget).meta({ id: 'WidgetList' });
