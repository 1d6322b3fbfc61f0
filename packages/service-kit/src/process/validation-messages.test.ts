import { expect, test } from 'vitest';
import { z } from 'zod';
import './validation-messages.ts';

const messagesOf = (schema: z.ZodType, value: unknown): (string | undefined)[] =>
  schema.safeParse(value).error?.issues.map(({ message }) => message) ?? [];

test.each<[string, z.ZodType, unknown]>([
  ['is missing', z.string(), undefined],
  ['is missing', z.union([z.string(), z.int()]), undefined],
  ['must be a string', z.string(), 1],
  ['must be a number', z.coerce.number(), 'x'],
  ['must be a whole number', z.int(), 1.5],
  ['must be true or false', z.boolean(), 'yes'],
  ['must be a list', z.array(z.string()), {}],
  ['must be an object', z.strictObject({}), []],
  ['must be an object', z.record(z.string(), z.string()), null],
  ['must be null', z.null(), 1],
  ['must be a string, or must be true or false', z.union([z.string(), z.boolean()]), 1],
  ['must be one of todo, in-progress', z.enum(['todo', 'in-progress']), 'done'],
  ['must be one of ",", ";"', z.enum([',', ';']), '.'],
  ['must be event', z.literal('event'), 'quest'],
  ['must not be empty', z.string().min(1), ''],
  ['must not be empty', z.array(z.string()).min(1), []],
  ['must be at least 12 characters', z.string().min(12), 'short'],
  ['must be at most 128 characters', z.string().max(128), 'x'.repeat(129)],
  ['must be at most 1 character', z.string().max(1), 'xx'],
  ['must be exactly 3 characters', z.string().length(3), 'x'],
  ['must have at least 2 items', z.array(z.string()).min(2), ['x']],
  ['must have at most 2 items', z.array(z.string()).max(2), ['x', 'y', 'z']],
  ['must be at least 1', z.number().min(1), 0],
  ['must be more than 0', z.number().positive(), 0],
  ['must be at most 7', z.number().max(7), 8],
  ['must be less than 7', z.number().lt(7), 7],
  ['must be a multiple of 5', z.number().multipleOf(5), 7],
  ['must be an email address', z.email(), 'ada'],
  ['must be a UUID', z.uuid(), '1'],
  ['must be a UUID', z.guid(), '1'],
  ['must be a URL', z.url(), 'shop'],
  ['must be an IPv4 address', z.ipv4(), 'localhost'],
  ['must be a date such as 2026-01-31', z.iso.date(), '31.1.2026'],
  ['must be an ISO 8601 time such as 2026-01-31T12:00:00.000Z', z.iso.datetime(), 'noon'],
  ['must be in the format /^[A-Z]+$/', z.string().regex(/^[A-Z]+$/), 'x'],
  ['has unknown fields', z.strictObject({}), { secret: 1 }],
  ['is not an allowed name', z.record(z.string().max(1), z.string()), { long: '' }],
  ['is not valid', z.union([z.object({ a: z.string() }), z.object({ b: z.string() })]), {}],
])('says "%s"', (message, schema, value) => {
  expect(messagesOf(schema, value)).toEqual([message]);
});

test('a schema may state its own message', () => {
  expect(messagesOf(z.string('must be the name of a game'), 1)).toEqual(['must be the name of a game']);
});

test('no message quotes the value', () => {
  const schemas = [z.int(), z.enum(['x']), z.uuid(), z.string().max(3), z.iso.date(), z.strictObject({})];
  for (const schema of schemas)
    for (const value of ['hunter2', { hunter2: 'hunter2' }])
      for (const message of messagesOf(schema, value)) expect(message).not.toContain('hunter2');
});
