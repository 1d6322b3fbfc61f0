import { pageLimitBody, pageLimitQuery } from '@platform/pagination/list';
import { instant, text } from '@platform/service-kit/text';
import { z } from 'zod';
import { SealedEntry } from '@platform/sealed-log/evidence';
import { addressableId, id } from '@platform/wallet-protocol/ids';
import { currencyOf } from '../../ledger/domain.ts';

const currencyCode = z.string().regex(/^[A-Z]{3,10}$/, 'must be a code such as EUR');
const currency = currencyCode.meta({ description: 'RMB is kept as CNY', examples: ['EUR'] });

const statuses = ['active', 'disabled'] as const;

/** PostgreSQL's calendar has no year 0. */
export const day = z.iso.date().refine((date) => !date.startsWith('0000'), 'must be a date from year 1 on');

const profile = {
  name: text(1, 200).nullish(),
  countryCode: z
    .string()
    .regex(/^[A-Z]{2}$/, 'must be ISO 3166-1 alpha-2')
    .nullish(),
  languageCode: z
    .string()
    .regex(/^[a-z]{2}$/, 'must be ISO 639-1')
    .nullish(),
  birthDate: day.nullish(),
  address: text(1, 500).nullish(),
  timeZone: text(1, 64)
    .nullish()
    .meta({ description: 'IANA time zone, for limits by month; null: UTC', examples: ['Europe/Berlin'] }),
};

export const NewPlayer = z
  .strictObject({
    playerId: addressableId,
    currency,
    ...profile,
    registrationDate: day.nullish().meta({
      description: 'The day on which the player registered with the operator; today unless given',
    }),
  })
  .meta({ id: 'NewPlayer' });

export const PlayerChange = z
  .strictObject({
    ...profile,
    status: z.enum(statuses).optional(),
    excluded: z.boolean().optional().meta({
      description: 'true without a last day excludes without end; false ends an exclusion with the next day',
    }),
    excludedUntil: day.nullish().meta({
      description:
        'Last day of the exclusion in the time zone of the player; a day begins one, null makes one that holds endless. One that holds ends with the next day at the earliest',
    }),
  })
  // Also where an exclusion holds that was to end: who renews it has changed their mind.
  .overwrite((change) =>
    change.excluded && change.excludedUntil === undefined ? { ...change, excludedUntil: null } : change,
  )
  .meta({ id: 'PlayerChange' });

export const Player = z
  .object({
    playerId: z.string(),
    currency: z.string(),
    balance: z.string().meta({ examples: ['1000.00'] }),
    status: z.enum(statuses),
    excluded: z.boolean().meta({ description: 'Whether an exclusion holds now' }),
    excludedUntil: z.string().nullable().meta({ format: 'date' }),
    name: z.string().nullable(),
    countryCode: z.string().nullable(),
    languageCode: z.string().nullable(),
    birthDate: z.string().nullable().meta({ format: 'date' }),
    address: z.string().nullable(),
    timeZone: z.string().nullable(),
    registrationDate: z.string().meta({ format: 'date' }),
    createdAt: instant(),
  })
  .meta({ id: 'Player' });

export const PlayerPath = z.object({ playerId: id.meta({ example: 'demo-1' }) });
export const PlayerQuery = z.strictObject({
  ...pageLimitQuery,
  q: text(1, 255).optional().meta({ description: 'Text in the id or the name, in upper or lower case' }),
  status: z.enum(statuses).optional().meta({ description: 'Players in this state' }),
  currency: currencyCode
    .transform(currencyOf)
    .optional()
    .meta({ type: 'string', description: 'Players with this currency', examples: ['EUR'] }),
  excluded: z
    .enum(['true', 'false'], 'must be true or false')
    .optional()
    .meta({ description: 'Whether an exclusion holds now', type: 'boolean' }),
});
export const PlayerList = pageLimitBody('players', Player);

export const Entry = z
  .object({
    seq: z.int().meta({ description: '1, 2, 3, … without gaps' }),
    operation: SealedEntry.shape.operation,
    transactionId: z.string(),
    roundId: z.string().nullable(),
    gameCode: z.string().nullable(),
    amount: z.string().meta({ description: 'Signed', examples: ['-5.00'] }),
    currency: z.string(),
    balanceAfter: z.string(),
    reverseTransactionId: z.string().nullable(),
    at: instant(),
    metadata: z.string().nullable().meta({
      description:
        'Text that came with the callback; of an adjustment, JSON with its reason, note and people. At most 4 kB',
    }),
    metadataCut: z.boolean().meta({ description: 'Whether it was longer; then it ends with […]' }),
    promotional: z
      .boolean()
      .meta({ description: 'A win that opened its round: a free round, a jackpot or another gift' }),
  })
  .meta({ id: 'Entry' });

export const FoundEntry = z.object({ playerId: z.string(), ...Entry.shape }).meta({ id: 'FoundEntry' });
