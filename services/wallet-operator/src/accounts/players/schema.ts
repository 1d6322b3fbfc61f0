import { pageLimitBody, pageLimitQuery } from '@platform/pagination/list';
import { instant, text } from '@platform/service-kit/text';
import { z } from 'zod';
import { SealedEntry } from '@platform/sealed-log/evidence';
import { addressableId, id } from '@platform/wallet-protocol/ids';
import { normalizeCurrency } from '../../ledger/domain.ts';

const currencyCode = z.string().regex(/^[A-Z]{3,10}$/, 'must be a code such as EUR');
const currency = currencyCode.meta({ description: 'RMB is stored as CNY', examples: ['EUR'] });

const statuses = ['active', 'disabled'] as const;

/** A date. Year 0 is refused, because PostgreSQL's calendar does not have it. */
export const day = z.iso.date().refine((date) => !date.startsWith('0000'), 'must be a date after year 0');

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
    .meta({
      description: 'IANA time zone for monthly limits and exclusions; null: UTC',
      examples: ['Europe/Berlin'],
    }),
};

export const NewPlayer = z
  .strictObject({
    playerId: addressableId,
    currency,
    ...profile,
    registrationDate: day.nullish().meta({
      description: 'Day on which the player registered with the operator; default: today',
    }),
  })
  .meta({ id: 'NewPlayer' });

export const PlayerChange = z
  .strictObject({
    ...profile,
    status: z.enum(statuses).optional(),
    excluded: z.boolean().optional().meta({
      description:
        'true without `excludedUntil`: exclude without end; false: end the exclusion with the next day',
    }),
    excludedUntil: day.nullish().meta({
      description:
        'Last day of the exclusion in the time zone of the player; a date starts or changes an exclusion, null makes a current one endless. A current exclusion cannot end before the end of the next day',
    }),
  })
  // `excluded: true` alone also renews an exclusion that was about to end, without end.
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
    excluded: z.boolean().meta({ description: 'Whether the player is excluded now' }),
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
  q: text(1, 255).optional().meta({ description: 'Text in the id or the name, ignoring case' }),
  status: z.enum(statuses).optional().meta({ description: 'Players with this status' }),
  currency: currencyCode
    .transform(normalizeCurrency)
    .optional()
    .meta({ type: 'string', description: 'Players with this currency', examples: ['EUR'] }),
  excluded: z
    .enum(['true', 'false'], 'must be true or false')
    .optional()
    .meta({ description: 'Whether the player is excluded now', type: 'boolean' }),
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
        'Metadata of the callback; for an adjustment, JSON with its reason, note, requester and approver. At most 4 kB',
    }),
    metadataCut: z.boolean().meta({ description: 'Whether `metadata` was truncated; it then ends with […]' }),
    promotional: z
      .boolean()
      .meta({ description: 'Whether this win opened its round: a free round, a jackpot or another gift' }),
  })
  .meta({ id: 'Entry' });

export const FoundEntry = z.object({ playerId: z.string(), ...Entry.shape }).meta({ id: 'FoundEntry' });
