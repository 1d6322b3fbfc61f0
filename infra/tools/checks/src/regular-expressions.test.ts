import { expect, test } from 'vitest';
import { z } from 'zod';
import { allExpressions, expressionsIn, faultsOf } from './regular-expressions.ts';

test('a regular expression that is quadratic, exponential, unprovable or computed is found', () => {
  const place = 'infra/tools/checks/fixtures/regular-expressions.ts';
  expect(faultsOf(expressionsIn(place))).toEqual([
    `${place}:2 /\\s+$/ is not proven linear: 2nd degree polynomial`,
    `${place}:3 /^(a+)+$/ is not proven linear: exponential`,
    `${place}:4 /;\\s*charset\\s*=(?!utf-8)/ is not proven linear: unknown`,
    `${place}:5 is computed at run time and can't be checked; write a literal`,
  ]);
});

/** The formats of zod that the services check outside input with; not all of them are in an OpenAPI document. */
const formats = {
  date: z.iso.date(),
  dateTime: z.iso.datetime({ offset: true }),
  dateTimeToTheMinute: z.iso.datetime({ offset: true, precision: -1 }),
  email: z.email(),
  guid: z.guid(),
  uuid: z.uuid(),
};

test('every regular expression of the source, and every format of zod in use, runs in linear time', () => {
  const own = allExpressions();
  const zods = Object.entries(formats).map(([name, { _zod }]) => ({
    place: `zod's ${name}`,
    source: _zod.def.pattern?.source,
    flags: _zod.def.pattern?.flags ?? '',
  }));
  expect(own.length).toBeGreaterThan(200);
  expect(faultsOf([...own, ...zods])).toEqual([]);
}, 600_000);
