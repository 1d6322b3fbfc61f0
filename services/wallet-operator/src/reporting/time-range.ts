import { anyInstant } from '../reconciliation/statement-line.ts';

/** Query parameters that choose the time of what is listed. */
export const timeRange = {
  from: anyInstant.optional().meta({ description: 'From this instant' }),
  to: anyInstant.optional().meta({ description: 'Before this instant' }),
};
