import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';

interface Schema {
  type: string;
  format?: string;
  required?: string[];
  properties?: Record<string, object>;
}

const document = JSON.parse(await readFile(new URL('../openapi.json', import.meta.url), 'utf8'));
const list = document.paths['/quests/{questId}/questions'].get;
const schema = (name: string): Schema => document.components.schemas[name];

/** docs/contracts/quest-service.md, section Given, row by row. */
test('the OpenAPI document describes each parameter as the interface does', () => {
  const [questId, skip, take] = list.parameters;
  expect(questId).toMatchObject({
    name: 'questId',
    in: 'path',
    required: true,
    schema: { type: 'string', format: 'uuid' },
  });
  const whole = { type: 'string', format: 'int32', pattern: '^-?(?:0|[1-9]\\d*)$', minimum: 0 };
  expect(skip).toMatchObject({ name: 'Skip', in: 'query', required: false, schema: whole });
  expect(take).toMatchObject({
    name: 'Take',
    in: 'query',
    required: false,
    schema: { ...whole, maximum: 1000 },
  });
  expect(skip.schema).not.toHaveProperty('maximum');
});

test('success is a bare array of questions in application/json', () => {
  const { content } = list.responses['200'];
  expect(Object.keys(content)).toEqual(['application/json']);
  expect(content['application/json'].schema).toEqual({
    type: 'array',
    items: { $ref: '#/components/schemas/Question' },
  });
});

test.each(['400', '404', '414', '431'])('%s is application/problem+json', (status) => {
  expect(Object.keys(list.responses[status].content)).toEqual(['application/problem+json']);
});

test.each([
  [
    'Question',
    {
      questionId: { type: 'string' },
      orderNumber: { type: 'integer' },
      type: { type: 'string', enum: expect.arrayContaining(['SINGLE_CHOICE']) },
      presentation: { type: 'string', enum: expect.arrayContaining(['HORIZONTAL']) },
      titles: { type: 'array', items: { $ref: '#/components/schemas/Title' } },
      alternatives: { type: 'array', items: { $ref: '#/components/schemas/Alternative' } },
    },
  ],
  [
    'Alternative',
    {
      alternativeId: { type: 'string' },
      type: { type: 'string', enum: expect.arrayContaining(['DEFAULT']) },
      orderNumber: { type: 'integer' },
      titles: { type: 'array', items: { $ref: '#/components/schemas/Title' } },
    },
  ],
  ['Title', { languageCode: { type: 'string' }, title: { type: 'string' } }],
])('%s has exactly the fields of the interface', (name, fields) => {
  const { properties = {}, required } = schema(name);
  expect(Object.keys(properties)).toEqual(Object.keys(fields));
  expect(properties).toMatchObject(fields);
  expect(required).toEqual(Object.keys(fields));
});
