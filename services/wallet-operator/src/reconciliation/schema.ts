import { boundedList } from '@platform/service-kit/bounded-list';
import { instant, text } from '@platform/service-kit/text';
import { amount } from '@platform/wallet-protocol/money';
import { z } from 'zod';
import { kind, operations, RepairResult } from './difference.ts';
import { anyInstant, statementFields, type StatementField } from './statement-line.ts';

const columnsHint = 'must be pairs such as playerId:Player,time:Booked at';

/** Parses `playerId:Player,time:Booked at` into the column of each field. */
const columns = text(0, 2000)
  .default('')
  .transform((written, context) => {
    const columnOf: Partial<Record<StatementField, string>> = {};
    for (const pair of written === '' ? [] : written.split(',')) {
      const [field = '', ...nameParts] = pair.split(':');
      const isField = statementFields.includes(field as StatementField);
      if (!isField) context.addIssue(`"${field}" is not a field of a statement; ${columnsHint}`);
      else if (nameParts.length === 0 || Object.hasOwn(columnOf, field)) context.addIssue(columnsHint);
      // A name may contain colons.
      else columnOf[field as StatementField] = nameParts.join(':');
    }
    return columnOf;
  })
  .meta({
    type: 'string',
    description: `Columns whose names differ from the names of the fields (${statementFields.join(', ')})`,
    example: '',
  });

const maxPeriodMs = 31 * 86_400_000;

export const StatementQuery = z
  .strictObject({
    from: anyInstant.meta({
      description: 'Start of the period (inclusive)',
      example: '2026-11-01T00:00:00.000Z',
    }),
    to: anyInstant.meta({
      description: 'End of the period (exclusive), at most 31 days after `from` and not in the future',
      example: '2026-11-02T00:00:00.000Z',
    }),
    tolerance: z
      .string()
      .refine((written) => /^(?:0|[1-9]\d{0,4})$/.test(written), { error: 'must be from 0 to 99999' })
      .transform(Number)
      .default(300)
      .meta({
        type: 'integer',
        minimum: 0,
        maximum: 99_999,
        default: 300,
        description: 'Seconds by which the times of a transaction may differ',
      }),
    columns,
    delimiter: z.enum([',', ';', '\t', '|']).default(',').meta({ description: 'Separator of CSV values' }),
  })
  .refine(
    ({ from, to }) => {
      const periodMs = Date.parse(to) - Date.parse(from);
      // An invalid time gives NaN; it has its own error.
      return !(periodMs <= 0 || periodMs > maxPeriodMs);
    },
    { path: ['to'], error: 'must be after `from`; choose at most 31 days' },
  );

const shape = {
  reconciliationId: z.guid(),
  createdAt: instant(),
  createdBy: z.string().meta({ description: 'Subject of the access token' }),
  from: instant(),
  to: instant(),
  tolerance: z.int(),
  status: z.enum(['receiving', 'comparing', 'done', 'failed']),
  failure: z.string().nullable().meta({
    description:
      'Why it failed: interrupted, invalid_statement, too_many_differences, one_factor or internal: send the statement again; or withdrawn',
  }),
  lines: z.int().meta({ description: 'Lines received' }),
  comparedLines: z.int(),
  differences: z.int().meta({ description: 'Differences found so far' }),
  fields: z
    .array(z.object({ field: z.enum(statementFields), lines: z.int() }))
    .meta({ description: 'How many lines contain each field; missing fields are not compared' }),
};

export const Reconciliation = z.object(shape).meta({ id: 'Reconciliation' });

/** How many lines of a statement contain each field. */
export type FieldCounts = z.input<typeof Reconciliation>['fields'];

export const ReconciliationWithKinds = z
  .object({ ...shape, kinds: z.array(z.object({ kind, differences: z.int(), open: z.int() })) })
  .meta({ id: 'ReconciliationWithKinds' });

export const ReconciliationPath = z.object({ reconciliationId: z.guid() });
export const DifferenceFilter = z.object({
  kind: kind.optional().meta({ description: 'Differences of this kind' }),
});

export const DryRunRequest = z
  .strictObject({
    differences: boundedList(z.int().min(1).max(2_147_483_647), 1, 1000).meta({
      description: 'Numbers of the differences to repair',
    }),
  })
  .meta({ id: 'DryRunRequest' });

export const DryRunPath = z.object({ reconciliationId: z.guid(), dryRunId: z.guid() });

export const DryRun = z
  .object({
    dryRunId: z.guid(),
    createdAt: instant(),
    createdBy: z.string(),
    approvedAt: instant().nullable(),
    approvedBy: z.string().nullable(),
    sums: z
      .array(
        z.object({
          kind,
          operation: z.enum(operations),
          currency: z.string().nullable(),
          repairs: z.int(),
          amount: z.string(),
        }),
      )
      .meta({
        description:
          'The repairs that would be made, and the money that they move: debits from players, credits and rollbacks to players',
      }),
    repairs: z.array(RepairResult),
  })
  .meta({ id: 'DryRun' });

export const ApplyRequest = z
  .strictObject({
    dryRunId: z.guid().meta({ description: 'The dry run whose repairs are applied' }),
    maxAmount: amount.optional().meta({
      description: 'Maximum of all repairs in a currency within 24 hours, also for approved dry runs',
    }),
  })
  .meta({ id: 'ApplyRequest' });

export const Repairs = z.object({ repairs: z.array(RepairResult) }).meta({ id: 'Repairs' });
